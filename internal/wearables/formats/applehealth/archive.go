package applehealth

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/flate"

	"hale/internal/platform/fault"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
)

// DefaultMaxBytes bounds the document of an export, uncompressed.
const DefaultMaxBytes = 64 << 30

// Real documents compress up to twentyfold, repeated records sixtyfold, nothing a
// thousandfold. Small documents do no harm.
const (
	mostCompressed  = 200
	harmlessMembers = 32 << 20
)

// maxRouteBytes bounds one GPX file: twice the size of maxPoints places.
const maxRouteBytes = 256 << 20

// Export is an opened zip or XML file.
type Export struct {
	file     *os.File
	member   *zip.File // the document, when the file is a zip
	size     int64     // of the document
	maxBytes int64
	routes   map[string]*zip.File // by file name
	// recordings are the files of electrocardiograms.
	recordings []*zip.File
}

// Open opens an export. It finds the document in a zip by its content, because its name
// is in the phone's language. A file that is no export is a fault of kind
// Unprocessable. maxBytes 0 means DefaultMaxBytes.
func Open(name string, maxBytes int64) (*Export, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	e := &Export{file: file, maxBytes: cmp.Or(maxBytes, DefaultMaxBytes), routes: map[string]*zip.File{}}
	if err := e.open(); err != nil {
		file.Close()
		return nil, err
	}
	return e, nil
}

func (e *Export) open() error {
	info, err := e.file.Stat()
	if err != nil {
		return err
	}
	e.size = info.Size()
	magic := make([]byte, 4)
	if n, err := e.file.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	} else if n == 0 {
		return files.NewUnlikeError("the file is empty")
	}
	if IsZip(magic) {
		if err := e.openZip(info.Size()); err != nil {
			return err
		}
	}
	if e.size > e.maxBytes {
		return tooLarge(e.maxBytes)
	}
	return nil
}

// IsZip reports whether a file with these first bytes is a zip.
func IsZip(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }

func (e *Export) openZip(size int64) error {
	archive, err := zip.NewReader(e.file, size)
	if err != nil {
		return fault.New(fault.Unprocessable, "the zip file is damaged or incomplete")
	}
	archive.RegisterDecompressor(zip.Deflate, func(in io.Reader) io.ReadCloser { return flate.NewReader(in) })
	var candidates []*zip.File
	for _, f := range archive.File {
		switch strings.ToLower(path.Ext(f.Name)) {
		case ".gpx":
			e.routes[path.Base(f.Name)] = f
		case ".csv":
			if isRecordingName(f.Name) && len(e.recordings) < maxRecordings {
				e.recordings = append(e.recordings, f)
			}
		case ".png", ".jpg", ".jpeg", ".pdf", ".json":
		default:
			candidates = append(candidates, f)
		}
	}
	// The document is nearly always the largest member.
	slices.SortStableFunc(candidates, func(a, b *zip.File) int {
		return cmp.Compare(b.UncompressedSize64, a.UncompressedSize64)
	})
	for _, f := range candidates[:min(len(candidates), 100)] {
		if f.Flags&1 != 0 {
			return fault.New(fault.Unprocessable, "the zip file is protected by a password")
		}
		if isDocument(f) {
			e.member, e.size = f, int64(f.UncompressedSize64)
			switch {
			case e.size < 0:
				return tooLarge(e.maxBytes)
			case e.size > harmlessMembers && f.UncompressedSize64/mostCompressed > f.CompressedSize64:
				return fault.Newf(fault.Unprocessable, "the zip file unpacks to more than %d times its size, which no export does", mostCompressed)
			}
			return nil
		}
	}
	return files.NewUnlikeError("the zip file holds no Apple Health export")
}

// isDocument reports whether a member starts like an export.
func isDocument(f *zip.File) bool {
	in, err := f.Open()
	if err != nil {
		return false
	}
	defer in.Close()
	_, err = readHead(in)
	return err == nil
}

func tooLarge(limit int64) error {
	return fault.Newf(fault.TooLarge, "the export is larger than %d bytes uncompressed", limit)
}

// Size returns the length of the document in bytes, uncompressed.
func (e *Export) Size() int64 { return e.size }

// Document opens the XML document.
func (e *Export) Document() (io.ReadCloser, error) {
	if e.member == nil {
		return io.NopCloser(&cappedReader{in: io.NewSectionReader(e.file, 0, e.size), left: e.maxBytes, limit: e.maxBytes}), nil
	}
	in, err := e.member.Open()
	if err != nil {
		return nil, fmt.Errorf("applehealth: opening the document in the zip: %w", err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&cappedReader{in: in, left: e.maxBytes, limit: e.maxBytes}, in}, nil
}

// Check checks the start of the document. For a zip, Open did that already.
func (e *Export) Check() error {
	if e.member != nil {
		return nil
	}
	_, err := readHead(io.NewSectionReader(e.file, 0, e.size))
	return err
}

// Route reads the places of a route that a workout refers to. It returns none if the
// route is missing or unreadable, so that the workout is still stored.
func (e *Export) Route(reference string) []derive.Point {
	f, ok := e.routes[path.Base(reference)]
	if !ok {
		return nil
	}
	in, err := f.Open()
	if err != nil {
		return nil
	}
	defer in.Close()
	points, err := readGPX(io.LimitReader(in, maxRouteBytes))
	if err != nil {
		return nil
	}
	return points
}

// recording reads an electrocardiogram. It returns false if the file is damaged
// or has no voltages.
func (e *Export) recording(f *zip.File) (recording, bool) {
	in, err := f.Open()
	if err != nil {
		return recording{}, false
	}
	defer in.Close()
	r, ok, err := readRecording(in)
	return r, ok && err == nil
}

// Close closes the file.
func (e *Export) Close() error { return e.file.Close() }

// cappedReader refuses to read more than a limit, even if the zip's directory states a smaller
// size.
type cappedReader struct {
	in          io.Reader
	left, limit int64
}

func (c *cappedReader) Read(b []byte) (int, error) {
	if c.left <= 0 {
		if n, err := c.in.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, tooLarge(c.limit)
	}
	n, err := c.in.Read(b[:min(int64(len(b)), c.left)])
	c.left -= int64(n)
	return n, err
}

// isCorrupt reports whether compressed data is damaged.
func isCorrupt(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.As(err, &corrupt) || errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat)
}
