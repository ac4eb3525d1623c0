package whoopexport

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"slices"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// source is one table of a file.
type source struct {
	*table
	open func() (io.ReadCloser, error)
	size int64 // as stated in the directory of the zip, or the length of the file
}

// sizeOf returns the total length of tables, in bytes. A claimed size beyond the limit
// counts as the limit.
func sizeOf(all []source) (sum int64) {
	for _, one := range all {
		if sum += one.size; sum < 0 || one.size < 0 {
			return math.MaxInt64
		}
	}
	return sum
}

// maxMembers bounds the members of a zip that are checked; exports have four.
const maxMembers = 50

var (
	zipMagic      = []byte("PK\x03\x04")
	errDamagedZip = fault.New(fault.Unprocessable, "the zip file is damaged or incomplete")
)

// sources returns the tables of a file in the order of reading. It returns none if the
// file is no export.
func sources(file *os.File) ([]source, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	start := make([]byte, len(zipMagic))
	if _, err := file.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(start, zipMagic) {
		one := func() (io.ReadCloser, error) {
			_, err := file.Seek(0, io.SeekStart)
			return io.NopCloser(file), err
		}
		return addTable(nil, one, info.Size())
	}
	z, err := zip.NewReader(file, info.Size())
	if err != nil {
		return nil, nil // another kind may report a better error
	}
	var all []source
	for _, member := range z.File[:min(len(z.File), maxMembers)] {
		if member.Flags&1 != 0 || member.FileInfo().IsDir() { // locked
			continue
		}
		if all, err = addTable(all, member.Open, int64(member.UncompressedSize64)); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b source) int { return cmp.Compare(a.place(), b.place()) })
	return all, nil
}

// addTable adds a table to all if the header identifies it.
func addTable(all []source, open func() (io.ReadCloser, error), size int64) ([]source, error) {
	in, err := open()
	if err != nil {
		return all, nil //nolint:nilerr // a member that can not be opened is no table
	}
	defer in.Close()
	h, ok, err := sheet.Head(sheet.NewRows(in), 1, func(h sheet.Header) bool { return tableOf(h) != nil })
	if err != nil || !ok {
		return all, nil //nolint:nilerr // nor is one that can not be read
	}
	return append(all, source{tableOf(h), open, size}), nil
}

// place returns the position of a table in the order of reading.
func (s source) place() int {
	return slices.IndexFunc(tables, func(t table) bool { return t.name == s.name })
}

// tooLarge returns the error for tables whose total size is more than most bytes.
func tooLarge(most int64) error {
	return fault.Newf(fault.TooLarge, "the tables are larger than %d bytes", most)
}

// boundedTables reads the tables of a file and limits their total size, because the size that a
// zip states for a member may be wrong.
type boundedTables struct {
	in   io.Reader
	left *int64
	most int64
}

func (b *boundedTables) Read(p []byte) (int, error) {
	if *b.left < 0 {
		return 0, tooLarge(b.most)
	}
	n, err := b.in.Read(p[:min(int64(len(p)), *b.left+1)])
	*b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		return n, errDamagedZip
	}
	return n, err
}

// Provider is the catalogue's name for WHOOP. It has another for accounts of
// old, whose password was asked for; an export is of the one that there is now.
const Provider = "whoop_v2"

// Kind is a WHOOP export.
var Kind = files.Kind{Name: "whoop", Title: "WHOOP export", Provider: Provider, WallClock: true, Check: check, Run: run}

var errUnlike = files.NewUnlikeError("the file holds no table of a WHOOP export")

func check(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		file, ok := in.(*os.File)
		if !ok {
			return errUnlike
		}
		all, err := sources(file)
		switch most := limitOf(limit); {
		case err == nil && len(all) == 0:
			return errUnlike
		case err == nil && sizeOf(all) > most:
			return tooLarge(most)
		}
		return err
	})
}

// limitOf returns the limit of the tables' total length.
func limitOf(limit int64) int64 {
	if limit == 0 || limit > sheet.DefaultLimit {
		return sheet.DefaultLimit
	}
	return limit
}

func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	outcome := files.NewOutcome()
	if err := check(in.Path, in.Limit); err != nil {
		return outcome, err
	}
	file, err := os.Open(in.Path)
	if err != nil {
		return outcome, err
	}
	defer file.Close()
	all, err := sources(file)
	if err != nil {
		return outcome, err
	}
	store, err := in.Store(ctx, Provider, outcome)
	if err != nil {
		return outcome, err
	}
	store.DaysAreStated(true, true)
	limit := limitOf(in.Limit)
	r := &reader{report: &outcome.Report, zone: sheet.Zone(in), sink: store, left: limit, limit: limit, size: sizeOf(all)}
	if err := r.read(ctx, all); err != nil {
		return outcome, err
	}
	return outcome, store.Finish(ctx)
}
