package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/labs/places"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) pscCommand() *cobra.Command {
	c := noun(&cobra.Command{
		Use: "psc", Short: "places of sample collection: service centers and phlebotomists",
		Long: `Import the patient service centers of labs, and the ZIP codes that phlebotomists
visit. The commands work on the database directly, also while hale serve runs, and
need no API key. Running servers use a change at once.

If a team has its own list of a lab's centers (--team), it uses that list.
Otherwise it uses the list for all teams. A sandbox team without a list uses
invented centers.`,
		Example: examples("hale psc import centers.csv --lab labcorp --full", "hale psc import-coverage visits.csv",
			"hale psc list", "hale psc sample --lab quest > example.csv"),
	}, s.pscImport(), s.pscImportCoverage(), s.pscList(), s.pscRemove(), s.pscSample())
	addSettings(c.PersistentFlags(), storageSettings...)
	return c
}

// pscOrder holds the options of an import of places.
type pscOrder struct {
	lab    string
	team   string
	full   bool
	skip   bool
	dryRun bool
}

func (o *pscOrder) flags(c *cobra.Command, full string) {
	flags := c.Flags()
	flags.StringVar(&o.team, "team", "", "import for one team only: id or name (default: for all teams)")
	flags.BoolVar(&o.full, "full", false, full)
	flags.BoolVar(&o.skip, "skip-invalid", false, "import the valid lines of a file that has invalid ones")
	flags.BoolVar(&o.dryRun, "dry-run", false, "check and count without changing anything")
}

func (s *shell) pscImport() *cobra.Command {
	var o pscOrder
	c := &cobra.Command{
		Use: "import FILE", Short: "import the patient service centers of labs",
		Long: `Import the patient service centers of labs. The file is CSV with a header line, JSON
with one object per line, or GeoJSON; - is standard input. Lab and site_code identify
a center. If a line is invalid, nothing changes.

Fields: lab_slug, site_code, name, first_line, second_line, city, state,
zip_code, lat, lng, phone, fax, website, timezone, capabilities, hours, active,
valid_from, valid_to. hale docs places describes them.`,
		Example: examples("hale psc import centers.csv", "hale psc import centers.geojson --lab labcorp --full",
			"hale psc import - --team 'Acme Health' --dry-run < centers.csv"),
		Args: wantArgs("FILE"),
	}
	c.Flags().StringVar(&o.lab, "lab", "", "slug of the lab, for lines without one")
	o.flags(c, "deactivate centers that the file does not contain, for the labs in it")
	c.RunE = func(c *cobra.Command, args []string) error {
		return importPlaces(s, c, args[0], o,
			func(file io.Reader) (places.ImportFile[places.Site], error) { return places.ReadSites(file, o.lab) }, places.ImportSites)
	}
	return c
}

func (s *shell) pscImportCoverage() *cobra.Command {
	var o pscOrder
	c := &cobra.Command{
		Use: "import-coverage FILE", Short: "import the ZIP codes that phlebotomists visit",
		Long: `Import the ZIP codes that phlebotomists visit from CSV with a header line, or from
JSON with one object per line; - is standard input. If a line is invalid, nothing
changes.

Fields: provider, zip, tier (appointment-ready or appointment-request), days
(Mo-Fr), earliest and latest (07:00), lead_hours.`,
		Example: examples("hale psc import-coverage visits.csv", "hale psc import-coverage visits.csv --full --dry-run"),
		Args:    wantArgs("FILE"),
	}
	o.flags(c, "remove ZIP codes that the file does not contain, for the providers in it")
	c.RunE = func(c *cobra.Command, args []string) error {
		return importPlaces(s, c, args[0], o, places.ReadOffers, places.ImportOffers)
	}
	return c
}

var (
	pscChangeView = view{
		id: "list",
		columns: []column{
			{"list", "list"}, {"created", "created"}, {"updated", "updated"}, {"unchanged", "unchanged"}, {"ended", "ended"},
		},
		none: "the file has no lines",
	}
	pscListView = view{
		id: "lab",
		columns: []column{
			{"lab", "lab"}, {"team", "for"}, {"centers", "centers"}, {"active", "active"}, {"imported", "imported_at"},
		},
		none: "nothing imported: sandbox teams use invented centers, other teams have none",
	}
)

type pscListLine struct {
	Lab        string    `json:"lab"`
	For        string    `json:"for"`
	Centers    int       `json:"centers"`
	Active     int       `json:"active"`
	ImportedAt time.Time `json:"imported_at"`
}

// errOnlyLooking ends the transaction of a dry run.
var errOnlyLooking = fault.New(fault.Internal, "nothing was changed")

// importPlaces reads a file and puts what it holds into the database in one
// transaction.
func importPlaces[T any](s *shell, c *cobra.Command, path string, o pscOrder, read func(io.Reader) (places.ImportFile[T], error),
	put func(ctx context.Context, tx *store.Tx, owner teams.ID, rows []T, full bool) ([]places.Change, error),
) error {
	rows, err := readPlaces(s, path, o, read)
	if err != nil {
		return err
	}
	return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
		owner, err := ownerOf(ctx, db, o.team)
		if err != nil {
			return err
		}
		var changes []places.Change
		err = db.Write(ctx, func(tx *store.Tx) (err error) {
			if changes, err = put(ctx, tx, owner, rows, o.full); err == nil && o.dryRun {
				err = errOnlyLooking
			}
			return err
		})
		if errors.Is(err, errOnlyLooking) {
			s.sayDone("nothing was changed; an import would have this result")
			err = nil
		}
		if err != nil {
			return err
		}
		return s.showValue(pscChangeView, changes)
	})
}

// ownerOf returns the owner of the list.
func ownerOf(ctx context.Context, db *store.DB, team string) (teams.ID, error) {
	if team == "" {
		return places.AllTeams, nil
	}
	found, err := findTeam(ctx, db, team)
	return found.ID, err
}
