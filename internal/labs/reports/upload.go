package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"image/jpeg"
	"image/png"
	"mime"

	"hale/internal/platform/fault"
)

// The types of files.
const (
	PDF  = "application/pdf"
	JPEG = "image/jpeg"
	PNG  = "image/png"
)

// File is an uploaded file. Several images are the pages of one report, in order.
type File struct {
	Type string // PDF, JPEG or PNG
	Data []byte
}

// Limits bound one upload.
type Limits struct {
	MaxBytes  int64 // of all files of a report
	MaxFiles  int
	MaxPages  int
	MaxPixels int // of one page
}

// DefaultLimits returns the limits of the specification, and those of the reference where
// the specification has none.
//
// Spec: Further operations, POST /lab_report/v1/parser/job. Reference 4.
func DefaultLimits() Limits {
	return Limits{MaxBytes: 10_000_000, MaxFiles: 8, MaxPages: 30, MaxPixels: 60_000_000}
}

// Check checks uploaded files without reading their contents, and sets their types.
// declared has the media type that the caller gave each file, or "". The pages of a PDF
// file are counted later, by the reader's process.
//
// Reference 4, errors.
func (l Limits) Check(files []File, declared []string) error {
	if len(files) == 0 {
		return fault.New(fault.Invalid, "Field required").At("body", "file").WithType("missing")
	}
	if len(files) > l.MaxFiles {
		return fault.Newf(fault.Refused, "A report may have at most %d files", l.MaxFiles)
	}
	var size int64
	for i := range files {
		size += int64(len(files[i].Data))
		if err := l.checkFile(&files[i], declared[i]); err != nil {
			return err
		}
		if files[i].Type == PDF && len(files) > 1 {
			return fault.New(fault.Refused, "A PDF file must be the only file; only images can be sent together, as pages of one report")
		}
	}
	return l.CheckSize(size)
}

// CheckSize checks the number of bytes of all files.
func (l Limits) CheckSize(size int64) error {
	if size > l.MaxBytes {
		return fault.Newf(fault.TooLarge, "The files of a report may have at most %d bytes in total", l.MaxBytes)
	}
	return nil
}

// checkFile recognizes a file by its bytes and compares it with the declared type.
func (l Limits) checkFile(f *File, declared string) error {
	if len(f.Data) == 0 {
		return fault.New(fault.Refused, "The file is empty")
	}
	f.Type = recognize(f.Data)
	if f.Type == "" {
		return fault.New(fault.Refused, "The file is no PDF, JPEG or PNG")
	}
	if !declares(declared, f.Type) {
		return fault.New(fault.Refused, "The declared content type of the file does not match its bytes")
	}
	return l.checkImage(f)
}

// pdfHeader may follow other bytes, of which readers skip up to a thousand.
var pdfHeader = []byte("%PDF-")

// recognize returns the type of a file by its first bytes; empty if it is none of ours.
// A file that is valid as two types has the type of its first bytes.
func recognize(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(data, []byte{0xff, 0xd8, 0xff}):
		return JPEG
	case bytes.Contains(data[:min(len(data), 1024)], pdfHeader):
		return PDF
	}
	return ""
}

// declares reports whether a declared media type allows the real one. Many clients declare
// every file as bytes, or nothing.
func declares(declared, real string) bool {
	if declared == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(declared)
	switch {
	case err != nil:
		return false
	case media == "application/octet-stream", media == real:
		return true
	case media == "image/jpg", media == "image/pjpeg":
		return real == JPEG
	case media == "application/x-pdf":
		return real == PDF
	}
	return false
}

// checkImage reads the header of an image. Its pixels are decoded by the reader only.
func (l Limits) checkImage(f *File) error {
	var width, height int
	switch f.Type {
	case JPEG:
		c, err := jpeg.DecodeConfig(bytes.NewReader(f.Data))
		if err != nil {
			return fault.New(fault.Refused, "The image cannot be decoded")
		}
		width, height = c.Width, c.Height
	case PNG:
		c, err := png.DecodeConfig(bytes.NewReader(f.Data))
		if err != nil {
			return fault.New(fault.Refused, "The image cannot be decoded")
		}
		width, height = c.Width, c.Height
	default:
		return nil
	}
	if width <= 0 || height <= 0 {
		return fault.New(fault.Refused, "The image cannot be decoded")
	}
	if width > l.MaxPixels/height {
		return fault.Newf(fault.Refused, "The image has more than %d pixels", l.MaxPixels)
	}
	return nil
}

// Digest identifies the files of an upload: their contents, number and order.
func Digest(files []File) []byte {
	h := sha256.New()
	for _, f := range files {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(f.Data)))
		h.Write(size[:])
		h.Write(f.Data)
	}
	return h.Sum(nil)
}
