package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) catalogCommand() *cobra.Command {
	c := noun(&cobra.Command{
		Use: "catalog", Short: "manage lab tests, labs, lab accounts, physicians and clinics",
		Long: `Manage labs, lab tests, lab accounts, physicians and clinics. Sandbox teams have an
invented catalogue. Every team sees the labs that you import. hale catalog tests calls
the server. The other commands work on the database directly, also while hale serve
runs, and need no API key.`,
		Example: examples("hale catalog tests", "hale catalog import compendium.csv --lab lab.json", "hale catalog labs", "hale catalog accounts list"),
	}, s.catalogTests(), s.catalogImport(), s.catalogLabs(), s.catalogApprove(), s.catalogAccounts(), s.catalogPhysicians(), s.catalogPractice(), s.catalogPayors(), s.catalogICD10())
	addSettings(c.PersistentFlags(), storageSettings...)
	return c
}

var importedView = view{columns: []column{{"lab", "lab"}, {"added", "added"}, {"changed", "changed"}, {"unchanged", "unchanged"}, {"deactivated", "deactivated"}}}

func (s *shell) catalogImport() *cobra.Command {
	var lab string
	var part, dryRun bool
	c := &cobra.Command{
		Use: "import FILE", Short: "import a lab's compendium, CSV or JSON",
		Long: `Import the tests of a lab. FILE is a compendium in CSV (a line of column names,
then one entry per line) or JSON; hale docs lab-catalogue describes both. For a new
lab, the JSON file itself or --lab FILE.json must describe the lab.

The file is the complete list of the lab. Entries that it does not contain become
inactive, except with --part. If the file has a problem, nothing changes, and the
command shows all problems with their lines.`,
		Example: examples("hale catalog import compendium.json", "hale catalog import compendium.csv --lab lab.json",
			"hale catalog import additions.csv --lab acme_lab --part"),
		Args: wantArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			listed, err := readCompendium(args[0])
			if err != nil {
				return s.problems(err)
			}
			slug, described, err := labFlag(lab)
			if err != nil {
				return err
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				var done catalogue.ImportCounts
				err := db.Write(ctx, func(tx *store.Tx) (err error) {
					if done, err = catalogue.Import(ctx, tx, slug, described, listed, !part); err == nil && dryRun {
						err = errDryRun
					}
					return err
				})
				if errors.Is(err, errDryRun) {
					s.sayDone("nothing was changed; this would have been imported")
				} else if err != nil {
					return s.problems(err)
				}
				if done.Lacks != "" {
					s.say("warning: the documents of %s have no %s; add them to the description of the lab (--lab FILE.json)", done.Lab, done.Lacks)
				}
				return s.showValue(importedView, done)
			})
		},
	}
	c.Flags().StringVar(&lab, "lab", "", "slug of the lab, or a JSON file that describes it")
	c.Flags().BoolVar(&part, "part", false, "the file is only a part of the list: keep all other entries")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "check and report without changing anything")
	return c
}

// errDryRun rolls back a transaction that was only a trial.
var errDryRun = errors.New("cli: a dry run")

// readCompendium reads a file whose name implies the format.
func readCompendium(name string) (*catalogue.Compendium, error) {
	text, err := readBounded(name)
	if err != nil {
		return nil, err
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return catalogue.ReadJSON(text)
	case ".csv":
		return catalogue.ReadCSV(text)
	}
	return nil, badUsagef("the file name of a compendium must end in .csv or .json")
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fileTrouble(name, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, catalogue.LargestCompendium+1))
	if err == nil && len(text) > catalogue.LargestCompendium {
		return nil, fault.New(fault.TooLarge, "the file is larger than 64 MiB")
	}
	return text, fileTrouble(name, err)
}

// labFlag reads --lab: a slug, or the file of a description.
func labFlag(text string) (slug string, described *catalogue.Lab, err error) {
	if !strings.HasSuffix(text, ".json") {
		return text, nil, nil
	}
	body, err := readBounded(text)
	if err != nil {
		return "", nil, err
	}
	described, err = catalogue.ReadLab(body)
	return "", described, err
}

// problems shows what is wrong with a file, a line each.
func (s *shell) problems(err error) error {
	var list catalogue.Problems
	if !errors.As(err, &list) {
		return err
	}
	for _, p := range list {
		s.say("%s", p)
	}
	return withHint(fault.Newf(fault.Refused, "%d problems; nothing was imported", len(list)), "hale docs lab-catalogue describes the format")
}

func (s *shell) catalogLabs() *cobra.Command {
	var team string
	c := &cobra.Command{
		Use: "labs", Short: "list the labs that a team sees",
		Example: examples("hale catalog labs", "hale catalog labs --team 'Acme Health' -o id"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				owner, err := findTeam(ctx, db, team)
				if err != nil {
					return err
				}
				var all []catalogue.Lab
				err = db.Read(ctx, func(tx *store.Tx) error {
					found, err := catalogue.Load(ctx, tx, owner.ID)
					if err == nil {
						all = found.Labs()
					}
					return err
				})
				if err != nil {
					return err
				}
				return s.showValue(labsView, all)
			})
		},
	}
	c.Flags().StringVar(&team, "team", "", "id or name; not needed if there is only one team")
	return c
}

var labsView = view{
	id:      "slug",
	columns: []column{{"id", "id"}, {"slug", "slug"}, {"name", "name"}, {"collection methods", "methods"}, {"sample types", "sample_types"}},
	none:    "no labs yet: import them with hale catalog import",
}

func (s *shell) catalogApprove() *cobra.Command {
	var team string
	c := &cobra.Command{
		Use: "approve LAB_TEST", Short: "approve a team's lab test, so that it can be ordered",
		Example: examples("hale catalog approve 019f0000-0000-7000-8000-000000000000 --team Acme"),
		Args:    wantArgs("LAB_TEST"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				owner, err := findTeam(ctx, db, team)
				if err != nil {
					return err
				}
				var t catalogue.Test
				err = db.Write(ctx, func(tx *store.Tx) (err error) {
					id, err := labTestOf(ctx, tx, owner.ID, args[0])
					if err != nil {
						return err
					}
					t, err = catalogue.ApproveTest(ctx, tx, owner.ID, id)
					return err
				})
				if err != nil {
					return err
				}
				return s.showValue(approvedView, map[string]any{"id": t.ID, "name": t.Name, "status": t.Status()})
			})
		},
	}
	c.Flags().StringVar(&team, "team", "", "id or name; not needed if there is only one team")
	return c
}

// labTestOf returns the id of a team's lab test, given its id or its slug.
func labTestOf(ctx context.Context, tx *store.Tx, team teams.ID, name string) (catalogue.TestID, error) {
	if id, err := ids.Parse[catalogue.Test](name); err == nil {
		return id, nil
	}
	all, err := catalogue.ListTests(ctx, tx, team, catalogue.TestFilter{})
	var found []string
	var id catalogue.TestID
	for _, t := range all {
		if t.Slug == name {
			found, id = append(found, t.ID.String()), t.ID
		}
	}
	switch {
	case err != nil:
	case len(found) == 1:
		return id, nil
	case len(found) > 1:
		err = ambiguousSlug(name, found)
	default:
		err = fault.New(fault.NotFound, "no lab test of the team has this id or slug")
	}
	return catalogue.TestID{}, err
}

var approvedView = view{id: "id", columns: []column{{"lab test", "id"}, {"name", "name"}, {"status", "status"}}}

// billingFlag reads --billing: JSON of billing types to states, or the word
// all.
func billingFlag(text string) (map[catalogue.Billing][]string, error) {
	billing := map[catalogue.Billing][]string{}
	if text == "all" {
		for _, b := range catalogue.Billings {
			billing[b] = catalogue.States
		}
		return billing, nil
	}
	if err := json.Unmarshal([]byte(text), &billing); err != nil {
		return nil, badUsagef(`--billing is "all" or JSON such as {"client_bill":["AZ","CA"]}`)
	}
	return billing, nil
}
