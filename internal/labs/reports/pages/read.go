package pages

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	_ "image/png" // a format of uploads

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
type Reader struct {
	config   Config
	renderer *renderer // nil until the first PDF
}

// NewReader returns a reader. It opens nothing until the first document.
func NewReader(config Config) *Reader {
	if config.MaxPages <= 0 {
		config.MaxPages = 30
	}
	if config.MaxPixels <= 0 {
		config.MaxPixels = 60_000_000
	}
	if config.Tesseract == "" {
		config.Tesseract = "tesseract"
	}
	return &Reader{config: config}
}

// Close frees the memory of the reader.
func (r *Reader) Close() error {
	if r.renderer == nil {
		return nil
	}
	err := r.renderer.close()
	r.renderer = nil
	return err
}

// renew ends the parser after a file that it could not read: it may be in any state.
// The next file gets a new one.
func (r *Reader) renew() {
	if r.renderer != nil {
		_ = r.renderer.close()
		r.renderer = nil
	}
}

// failed returns why a page could not be read, and renews the parser.
func (r *Reader) failed(err error) error {
	r.renew()
	return pdfFailure(err)
}

// openPDF opens a document within the limit of pages.
func (r *Reader) openPDF(ctx context.Context, data []byte) (*pdf, error) {
	if r.renderer == nil {
		renderer, err := newRenderer(ctx, r.config.CacheDir)
		if err != nil {
			return nil, err
		}
		r.renderer = renderer
	}
	p, err := r.renderer.open(data)
	if err != nil {
		r.renew()
		return nil, err
	}
	if p.pages > r.config.MaxPages {
		p.close()
		return nil, tooManyPages(p.pages, r.config.MaxPages)
	}
	return p, nil
}

// Check verifies files without reading their text: formats, page and pixel
// counts, passwords. The error is an *extract.Failure with reason InvalidInput or
// TooManyPages. Images are not decoded beyond their headers.
func (r *Reader) Check(ctx context.Context, files []File) (pages int, err error) {
	if err := checkKinds(files, r.config); err != nil {
		return 0, err
	}
	if files[0].Type == "application/pdf" {
		p, err := r.openPDF(ctx, files[0].Data)
		if err != nil {
			return 0, err
		}
		defer p.close()
		return p.pages, nil
	}
	for _, f := range files {
		if _, err := r.imageHead(f); err != nil {
			return 0, err
		}
	}
	return len(files), nil
}

// Read reads a report. The error is an *extract.Failure unless ctx ended or the
// machine failed.
func (r *Reader) Read(ctx context.Context, files []File) (extract.Result, error) {
	doc, pictures, err := r.document(ctx, files)
	if err != nil {
		return extract.Result{}, err
	}
	result, err := extract.Read(doc)
	if err != nil {
		return result, err
	}
	return result, r.lookAgain(ctx, &result, pictures)
}

// Document returns the words of a report and where they are.
func (r *Reader) Document(ctx context.Context, files []File) (extract.Document, error) {
	doc, _, err := r.document(ctx, files)
	return doc, err
}

// document returns the straightened images of the pages that were recognised, too.
func (r *Reader) document(ctx context.Context, files []File) (extract.Document, map[int]*image.Gray, error) {
	var doc extract.Document
	pictures := map[int]*image.Gray{}
	if err := checkKinds(files, r.config); err != nil {
		return doc, nil, err
	}
	if files[0].Type == "application/pdf" {
		doc, err := r.pdfDocument(ctx, files[0].Data, pictures)
		return doc, pictures, err
	}
	for i, f := range files {
		gray, err := r.decode(f)
		if err != nil {
			return doc, nil, err
		}
		if isBlank(gray) { // recognition would try it in all four directions
			doc.Pages = append(doc.Pages, extract.Page{Number: i + 1, Width: float64(gray.Rect.Dx()), Height: float64(gray.Rect.Dy()), Source: extract.FromOCR})
			continue
		}
		page, picture, err := r.recognise(ctx, gray, true)
		if err != nil {
			return doc, nil, err
		}
		page.Number = i + 1
		pictures[page.Number] = picture
		doc.Pages = append(doc.Pages, page)
	}
	return doc, pictures, nil
}

// scanDPI is the resolution at which scanned pages of a PDF are rendered.
const scanDPI = 300

func (r *Reader) pdfDocument(ctx context.Context, data []byte, pictures map[int]*image.Gray) (extract.Document, error) {
	var doc extract.Document
	p, err := r.openPDF(ctx, data)
	if err != nil {
		return doc, err
	}
	defer p.close()
	for i := range p.pages {
		if err := ctx.Err(); err != nil {
			return doc, err
		}
		page, err := p.words(i, r.config.MaxPixels)
		if err != nil {
			return doc, r.failed(err)
		}
		if !hasText(page) {
			gray, err := p.image(i, scanDPI, r.config.MaxPixels)
			if err != nil {
				return doc, r.failed(err)
			}
			if !isBlank(gray) {
				if page, gray, err = r.recognise(ctx, gray, false); err != nil {
					return doc, err
				}
				page.Number = i + 1
				pictures[page.Number] = gray
			}
		}
		doc.Pages = append(doc.Pages, page)
	}
	return doc, nil
}

func pdfFailure(err error) error {
	var failure *extract.Failure
	if errors.As(err, &failure) {
		return err
	}
	return &extract.Failure{Reason: extract.InvalidInput, Detail: "a page of the PDF is damaged"}
}

// hasText reports whether a page's own characters can be read. There must be enough
// of them. Most of them must be letters and digits that fonts map to real
// characters.
func hasText(page extract.Page) bool {
	letters, odd := 0, 0
	for _, w := range page.Words {
		for _, c := range w.Text {
			switch {
			case c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
				letters++
			case c == '\ufffd' || c < ' ' || c >= 0xe000 && c <= 0xf8ff:
				odd++
			}
		}
	}
	return len(page.Words) >= 8 && letters >= 30 && odd*5 < letters
}

// Image returns a JPEG of one page for a reviewer, from 1. Boxes of rows are
// fractions of its width and height.
func (r *Reader) Image(ctx context.Context, files []File, page int) ([]byte, error) {
	if err := checkKinds(files, r.config); err != nil {
		return nil, err
	}
	var picture *image.Gray
	if files[0].Type == "application/pdf" {
		p, err := r.openPDF(ctx, files[0].Data)
		if err != nil {
			return nil, err
		}
		defer p.close()
		if page < 1 || page > p.pages {
			return nil, noPage(page)
		}
		if picture, err = p.image(page-1, 110, r.config.MaxPixels); err != nil {
			return nil, r.failed(err)
		}
	} else {
		if page < 1 || page > len(files) {
			return nil, noPage(page)
		}
		gray, err := r.decode(files[page-1])
		if err != nil {
			return nil, err
		}
		picture = shrink(gray, 1600)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture, &jpeg.Options{Quality: 80}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ErrNoTesseract is the cause of a failure to read a scan without the OCR
// program.
var ErrNoTesseract = errors.New("scans and photos need the program tesseract: install the package tesseract-ocr (Debian: sudo apt-get install tesseract-ocr)")

// Render returns one page of a PDF in gray, from 1.
func (r *Reader) Render(ctx context.Context, data []byte, page, dpi int) (*image.Gray, error) {
	p, err := r.openPDF(ctx, data)
	if err != nil {
		return nil, err
	}
	defer p.close()
	if page < 1 || page > p.pages {
		return nil, noPage(page)
	}
	gray, err := p.image(page-1, dpi, r.config.MaxPixels)
	if err != nil {
		return nil, r.failed(err)
	}
	return gray, nil
}
