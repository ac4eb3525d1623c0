package pages

import (
	"context"
	"errors"

	"hale/internal/labs/reports/extract"
)

// File is one uploaded file. Several images are the pages of one report.
type File struct {
	Type string // application/pdf, image/jpeg or image/png
	Data []byte
}

// Config sets limits and places. The zero value has defaults.
type Config struct {
	MaxPages  int    // 30 by default
	MaxPixels int    // of one image, 60 million by default
	CacheDir  string // for compiled WebAssembly; empty compiles on every start
	Tesseract string // the program; "tesseract" by default
}

// Reader reads documents, one at a time. It needs about 4 s to compile its
// WebAssembly module on the first PDF unless CacheDir holds the result of an
// earlier start.
type Reader struct{ config Config }

// NewReader returns a reader. It opens nothing until the first document.
func NewReader(config Config) *Reader { return &Reader{config} }

// Close frees the memory of the reader.
func (r *Reader) Close() error { return nil }

// Check verifies files without reading their text: formats, page and pixel
// counts, passwords. The error is an *extract.Failure with reason InvalidInput or
// TooManyPages. It is cheap: images are not decoded beyond their headers.
func (r *Reader) Check(ctx context.Context, files []File) (pages int, err error) {
	return 0, errors.ErrUnsupported
}

// Read reads a report. The error is an *extract.Failure unless ctx ended.
func (r *Reader) Read(ctx context.Context, files []File) (extract.Result, error) {
	return extract.Result{}, errors.ErrUnsupported
}

// Image returns a JPEG of one page for a reviewer, from 1. Boxes of rows are
// fractions of its width and height.
func (r *Reader) Image(ctx context.Context, files []File, page int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// ErrNoTesseract is the cause of a failure to read a scan without the OCR
// program.
var ErrNoTesseract = errors.New("scans and photos need the program tesseract: install the package tesseract-ocr (Debian: sudo apt-get install tesseract-ocr)")
