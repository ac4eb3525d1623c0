package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"hale/internal/labs/places"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// readPlaces reads a file and complains about its bad lines, which refuse it
// as a whole unless the order says otherwise.
func readPlaces[T any](s *shell, path string, o pscOrder, read func(io.Reader) (places.ImportFile[T], error)) ([]T, error) {
	file := s.in
	if path != "-" {
		opened, err := os.Open(path)
		if err != nil {
			return nil, fileTrouble(path, err)
		}
		defer opened.Close()
		file = opened
	}
	found, err := read(file)
	if err != nil {
		return nil, err
	}
	for _, p := range found.Problems {
		if p.Field == "" {
			s.say("line %d: %s", p.Line, p.Text)
		} else {
			s.say("line %d: %s %s", p.Line, p.Field, p.Text)
		}
	}
	if found.Unlisted > 0 {
		s.say("and %s more", pluralOf(found.Unlisted, "problem"))
	}
	for _, name := range found.Ignored {
		s.say("the unknown field %s was ignored", name)
	}
	bad := found.Lines - len(found.Rows)
	if bad > 0 && !o.skip {
		return nil, withHint(fault.Newf(fault.Invalid, "%s of %d cannot be imported; nothing was changed", pluralOf(bad, "line"), found.Lines),
			"--skip-invalid imports the valid lines")
	}
	if bad > 0 && o.full {
		return nil, badUsagef("--full would deactivate the entries of the invalid lines: correct these lines, or do not use --full")
	}
	return found.Rows, nil
}

func (s *shell) pscList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the imported lists of service centers",
		Example: examples("hale psc list", "hale psc list -o json"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				var lists []places.List
				err := db.Read(ctx, func(tx *store.Tx) (err error) {
					lists, err = places.Lists(ctx, tx)
					return err
				})
				if err != nil {
					return err
				}
				lines := make([]pscListLine, len(lists))
				for i, l := range lists {
					lines[i] = pscListLine{l.Lab, "everybody", l.Sites, l.Active, l.ImportedAt}
					if l.Owner != places.AllTeams {
						lines[i].For = l.Owner.String()
					}
				}
				return s.showValue(pscListView, lines)
			})
		},
	}
}

func (s *shell) pscRemove() *cobra.Command {
	var o pscOrder
	c := &cobra.Command{
		Use: "remove LAB", Short: "remove a lab's list of service centers",
		Long: `Remove a lab's list of service centers for all teams, or with --team the list of one
team. The next list applies: the list for all teams, or in the sandbox the invented
centers.`,
		Example: examples("hale psc remove labcorp --dry-run", "hale psc remove labcorp --team 'Acme Health'"),
		Args:    wantArgs("LAB"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				owner, err := ownerOf(ctx, db, o.team)
				if err != nil {
					return err
				}
				var n int
				err = db.Write(ctx, func(tx *store.Tx) (err error) {
					if n, err = places.RemoveSites(ctx, tx, owner, args[0]); err == nil && o.dryRun {
						err = errOnlyLooking
					}
					return err
				})
				if errors.Is(err, errOnlyLooking) {
					s.sayDone("nothing was changed; %s would be removed", pluralOf(n, "center"))
					return nil
				}
				if err == nil {
					s.sayDone("removed %s", pluralOf(n, "center"))
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&o.team, "team", "", "the list of one team: id or name (default: the list for all teams)")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "count without changing anything")
	return c
}

func (s *shell) pscSample() *cobra.Command {
	var lab string
	c := &cobra.Command{
		Use: "sample", Short: "print the invented centers of the sandbox as CSV",
		Long: `Print the invented service centers of the sandbox as CSV. hale psc import can read
the file; use it as an example of the format or as a large test file.`,
		Example: examples("hale psc sample | head", "hale psc sample --lab quest > example.csv"),
		Args:    wantArgs(),
		RunE: func(*cobra.Command, []string) error {
			var sites []places.Site
			for _, known := range places.MadeUpLabs() {
				if lab == "" || lab == known {
					sites = append(sites, places.MadeUpSites(known)...)
				}
			}
			if len(sites) == 0 {
				return fault.New(fault.NotFound, "this lab has no invented centers")
			}
			out := bufio.NewWriter(s.out)
			return errors.Join(places.WriteSites(out, sites), out.Flush())
		},
	}
	c.Flags().StringVar(&lab, "lab", "", "only centers of this lab (slug)")
	return c
}
