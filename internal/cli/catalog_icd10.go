package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"hale/internal/labs/diagnoses"
	"hale/internal/people/insurance"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Public lists for all teams: codes of diagnoses, and payors.

var listView = view{columns: []column{{"list", "list"}, {"edition", "edition"}, {"entries", "entries"}}}

// importedList holds the output of an import of a list.
type importedList struct {
	List    string `json:"list"`
	Edition string `json:"edition"`
	Entries int    `json:"entries"`
}

// listImport stores a list that was read.
type listImport func(ctx context.Context, tx *store.Tx, edition string) error

// listCommand turns c into a command that reads a file and makes it a list in force. read
// returns the list's name, its number of entries, and a function that stores it.
func (s *shell) listCommand(c *cobra.Command, read func(file io.Reader, name string) (string, int, listImport, error)) *cobra.Command {
	var edition string
	var dryRun bool
	c.Args = wantArgs("FILE")
	c.RunE = func(c *cobra.Command, args []string) error {
		file, _, err := openExport(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		name, entries, put, err := read(file, args[0])
		if err != nil {
			return s.linesOf(err)
		}
		done := importedList{name, edition, entries}
		if done.Edition == "" {
			done.Edition = yearIn(args[0])
		}
		if dryRun {
			s.sayDone("nothing was changed; this would have been imported")
			return s.showValue(listView, done)
		}
		return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
			err := db.Write(ctx, func(tx *store.Tx) error { return put(ctx, tx, done.Edition) })
			if err != nil {
				return err
			}
			return s.showValue(listView, done)
		})
	}
	c.Flags().StringVar(&edition, "edition", "", "name of this edition (default: the year in the file name)")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "check the file without changing anything")
	return c
}

// linesOf shows each problem of a file on a line of its own.
func (s *shell) linesOf(err error) error {
	var list fault.List
	if !errors.As(err, &list) {
		return err
	}
	for _, p := range list {
		s.say("%s", p)
	}
	return fault.Newf(fault.Invalid, "%d problems; nothing was imported", len(list))
}

var year = regexp.MustCompile(`20[0-9]{2}`)

func yearIn(path string) string { return year.FindString(filepath.Base(path)) }

func (s *shell) catalogICD10() *cobra.Command {
	return s.listCommand(&cobra.Command{
		Use: "import-icd10 FILE", Short: "import the official diagnosis codes",
		Long: `Import the yearly list of ICD-10-CM for all teams. It replaces the built-in list of
common codes. FILE is one of the official files that CMS publishes each year:
icd10cm-order-YEAR.txt has the codes, icd10cm-tabular-YEAR.xml the Excludes notes.
CSV with the columns code, billable and description works too.`,
		Example: examples("hale catalog import-icd10 icd10cm-order-2026.txt", "hale catalog import-icd10 icd10cm-tabular-2026.xml"),
	}, func(file io.Reader, name string) (string, int, listImport, error) {
		if strings.EqualFold(filepath.Ext(name), ".xml") {
			notes, err := diagnoses.ParseTabular(file)
			return "excludes", notes.Len(), func(ctx context.Context, tx *store.Tx, edition string) error {
				return diagnoses.ImportNotes(ctx, tx, edition, notes)
			}, err
		}
		codes, err := diagnoses.ParseCodes(file)
		return "icd10", codes.Len(), func(ctx context.Context, tx *store.Tx, edition string) error {
			return diagnoses.ImportCodes(ctx, tx, edition, codes)
		}, err
	})
}

func (s *shell) catalogPayors() *cobra.Command {
	return s.listCommand(&cobra.Command{
		Use: "import-payors FILE", Short: "import payors for all teams",
		Long: `Import payors for all teams. They replace an earlier import and add to the built-in
payors. FILE is CSV; hale docs insurance describes its columns.`,
		Example: examples("hale catalog import-payors payors.csv", "hale catalog import-payors payors.csv --dry-run"),
	}, func(file io.Reader, _ string) (string, int, listImport, error) {
		payors, err := insurance.ParsePayors(file, civil.DateOf(s.now()))
		return "payors", payors.Len(), func(ctx context.Context, tx *store.Tx, edition string) error {
			return insurance.ImportPayors(ctx, tx, edition, payors)
		}, err
	})
}
