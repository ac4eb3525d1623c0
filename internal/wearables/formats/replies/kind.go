package replies

import (
	"context"
	"errors"
	"io"
	"os"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
	"hale/internal/wearables/storage"
)

// Files returns the kind of file that holds the maker's replies.
func (m *Maker) Files() files.Kind {
	return files.Kind{Name: m.Kind, Title: m.Title, Provider: m.Provider, WallClock: m.WallClock, Check: m.check, Run: m.run}
}

var errFound = errors.New("replies: a document was found")

// check looks at the first document, even if the file ends in it. If the first MaxRecord
// bytes have no document, it reads no further.
func (m *Maker) check(path string, limit int64) error {
	unlike := files.NewUnlikeError("the file is no " + m.Title + " as the maker's web interface replies it")
	return sheet.Check(path, limit, func(in io.Reader) error {
		var refused error
		w := &walker{lists: m.Lists, reading: m.Open(&Reader{Report: &files.Report{}})}
		w.found = func(r *Resource, _ *Document) error {
			switch {
			case r == nil:
				return unlike
			case r.Refuse != "":
				refused = fault.New(fault.Unprocessable, r.Refuse)
			}
			return errFound
		}
		cut := false
		w.lost = func() { cut = true }
		switch err := w.walk(sheet.NewBoundedTo(in, MaxRecord)); {
		case errors.Is(err, errFound):
			return refused
		case cut && errors.Is(err, io.ErrUnexpectedEOF):
			return files.NewCutError(m.Title)
		}
		return unlike
	})
}

func (m *Maker) run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	outcome := files.NewOutcome()
	if err := m.check(in.Path, in.Limit); err != nil {
		return outcome, err
	}
	file, err := os.Open(in.Path)
	if err != nil {
		return outcome, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return outcome, err
	}
	store, err := in.Store(ctx, m.Provider, outcome)
	if err != nil {
		return outcome, err
	}
	store.DaysAreStated(!m.SumsDays, m.HeartOfDays)
	r := &Reader{
		Report: &outcome.Report, Zone: sheet.Zone(in), Sink: store, Device: in.Device, Stored: m.stored(in),
	}
	if err := m.Read(ctx, file, info.Size(), r); err != nil {
		return outcome, err
	}
	return outcome, store.Finish(ctx)
}

// stored returns a function that reads the user's summaries of the maker for
// some days.
func (m *Maker) stored(in files.Input) func(context.Context, string, string, string) ([]storage.StoredSummary, error) {
	return func(ctx context.Context, resource, from, to string) (all []storage.StoredSummary, err error) {
		err = in.DB.Read(ctx, func(tx *store.Tx) (err error) {
			all, err = storage.ListSummaries(ctx, tx, in.User.Team.UUID(), in.User.ID.UUID(),
				storage.SummaryQuery{Resource: resource, From: from, To: to, Provider: m.Provider})
			return err
		})
		return all, err
	}
}

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
