package replies

import (
	"context"
	"os"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// OfOne returns the kind of a file with replies about one person. whose returns the
// provider's own name of a document's person, empty if unknown. A file about several
// people is refused whole: nothing identifies the user among them, and a stranger's data
// is worse than none.
func (m *Maker) OfOne(whose func(d Document) string) files.Kind {
	kind := m.Files()
	run := kind.Run
	kind.Run = func(ctx context.Context, in files.Input) (*files.Outcome, error) {
		if err := m.onePerson(in.Path, whose); err != nil {
			return files.NewOutcome(), err
		}
		return run(ctx, in)
	}
	return kind
}

// onePerson scans a file before anything is stored. It ignores damage, which the import
// finds again.
func (m *Maker) onePerson(path string, whose func(d Document) string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in, person := sheet.NewBoundedTo(file, MaxRecord), ""
	w := &walker{lists: m.Lists, next: in.Next, reading: m.Open(&Reader{Report: &files.Report{}})}
	var several error
	w.found = func(_ *Resource, d *Document) error {
		if d == nil {
			return nil
		}
		one := whose(*d)
		if person == "" {
			person = one
		}
		if one != "" && one != person {
			several = fault.New(fault.Unprocessable, "the file has data of several people; export those of one")
			return several
		}
		return nil
	}
	_ = w.walk(in)
	return several
}
