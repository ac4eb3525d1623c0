package healthconnect

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"hale/internal/platform/fault"
)

// archive is an uploaded file: a database, or a zip with one.
type archive struct {
	path   string
	file   *os.File
	member *zip.File // nil when the file is the database
	size   int64     // of the database, uncompressed
	limit  int64
}

var (
	magic    = []byte("SQLite format 3\x00")
	zipMagic = []byte("PK\x03\x04")
)

// maxMembers bounds the members of a zip that are checked; exports have one.
const maxMembers = 20

// openArchive recognizes a file by its content.
func openArchive(path string, limit int64) (*archive, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	a := &archive{path: path, file: file, limit: limit}
	if err := a.open(); err != nil {
		file.Close()
		return nil, err
	}
	return a, nil
}

func (a *archive) open() error {
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	a.size = info.Size()
	start := make([]byte, len(magic))
	if _, err := a.file.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(start, zipMagic):
		if err := a.find(); err != nil {
			return err
		}
	case !bytes.Equal(start, magic):
		return errText
	}
	if a.size > a.limit {
		return tooLarge(a.limit)
	}
	return nil
}

func tooLarge(limit int64) error {
	return fault.Newf(fault.TooLarge, "the database is larger than %d bytes", limit)
}

// find looks for a database in a zip. A file that is no zip may be of another kind with
// a better error.
func (a *archive) find() error {
	z, err := zip.NewReader(a.file, a.size)
	if err != nil {
		return errUnlike
	}
	for _, f := range z.File[:min(len(z.File), maxMembers)] {
		if f.Flags&1 != 0 { // locked
			continue
		}
		if start, err := head(f, len(magic)); err == nil && bytes.Equal(start, magic) {
			a.member, a.size = f, int64(f.UncompressedSize64)
			return nil
		}
	}
	return errUnlike
}

func head(f *zip.File, n int) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	start := make([]byte, n)
	n, err = io.ReadFull(in, start)
	return start[:n], err
}

// schemaWithin bounds the position of the schema in a database.
const schemaWithin = 64 << 20

// checkMember looks for the name of the table that distinguishes the database of Health
// Connect from others. It does not unpack the whole member.
func (a *archive) checkMember() error {
	in, err := a.member.Open()
	if err != nil {
		return errDamagedZip
	}
	defer in.Close()
	want := []byte(distinctTable)
	window, filled := make([]byte, 1<<20), 0
	for read := 0; read < schemaWithin; {
		n, err := io.ReadFull(in, window[filled:])
		read += n
		filled += n
		if bytes.Contains(window[:filled], want) {
			return nil
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return errUnlike
		case err != nil:
			return errDamagedZip
		}
		filled = copy(window, window[filled-len(want):filled]) // a name over the edge of two windows
	}
	return errUnlike
}

var errDamagedZip = fault.New(fault.Unprocessable, "the zip file is damaged or incomplete")

// extract returns the path of the database. From a zip it is unpacked beside the
// upload, where a sweep finds it after a crash; discard removes it.
func (a *archive) extract(ctx context.Context) (path string, discard func(), err error) {
	if a.member == nil {
		return a.path, func() {}, nil
	}
	out, err := os.CreateTemp(filepath.Dir(a.path), "health-connect-*.db")
	if err != nil {
		return "", nil, fmt.Errorf("healthconnect: unpacking: %w", err)
	}
	discard = func() { _ = os.Remove(out.Name()) } // a sweep removes a file that remains
	err = errors.Join(a.unpack(ctx, out), out.Close())
	if err != nil {
		discard()
		return "", nil, err
	}
	return out.Name(), discard, nil
}

func (a *archive) unpack(ctx context.Context, out io.Writer) error {
	in, err := a.member.Open()
	if err != nil {
		return errDamagedZip
	}
	defer in.Close()
	// The size that the zip states is a claim: the copy stops at the limit.
	src := &watchedReader{ctx: ctx, in: io.LimitReader(in, a.limit+1)}
	n, err := io.Copy(struct{ io.Writer }{out}, src)
	switch {
	case src.err != nil:
		return src.err
	case err != nil:
		return fmt.Errorf("healthconnect: unpacking: %w", err)
	case n > a.limit:
		return tooLarge(a.limit)
	}
	a.size = n
	return nil
}

// watchedReader ends with its context. Its error distinguishes a damaged zip from a full
// disk.
type watchedReader struct {
	ctx context.Context
	in  io.Reader
	err error
}

func (w *watchedReader) Read(p []byte) (int, error) {
	if w.err = w.ctx.Err(); w.err != nil {
		return 0, w.err
	}
	n, err := w.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = errDamagedZip
		return n, errDamagedZip
	}
	return n, err
}

// Close closes the uploaded file.
func (a *archive) Close() { _ = a.file.Close() } // it was only read
