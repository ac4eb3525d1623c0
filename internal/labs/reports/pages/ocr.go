package pages

import (
	"context"
	"image"
	"math"

	"hale/internal/labs/reports/extract"
)

// recognise reads the words of a page's image twice, in two sizes or treatments.
// Rows that both readings agree on are trusted. It returns the straightened image,
// too.
func (r *Reader) recognise(ctx context.Context, gray *image.Gray, photo bool) (extract.Page, *image.Gray, error) {
	page := extract.Page{Number: 1, Width: float64(gray.Rect.Dx()), Height: float64(gray.Rect.Dy()), Source: extract.FromOCR}
	prepared := prepare(gray, photo)
	first, err := r.readScaled(ctx, prepared, prepared.first)
	if err != nil {
		return page, nil, err
	}
	if sure := sureWords(first); sure < 15 || 3*sure < len(first) { // the page may be turned
		turned, better, err := r.turned(ctx, gray, photo, sure)
		if err != nil {
			return page, nil, err
		}
		if turned != nil {
			prepared, first = *turned, better
		}
	}
	second, err := r.readScaled(ctx, prepared, prepared.second)
	if err != nil {
		return page, nil, err
	}
	page.Words, page.Second, page.LowResolution = first, second, prepared.dpi < trustedDPI
	if page.Second == nil {
		page.Second = []extract.Word{}
	}
	return page, prepared.base, nil
}

// trustedDPI is the resolution below which two readings that agree can both be
// wrong. Measured at 100 dpi: 3 of 510 numbers.
const trustedDPI = 130

// sureWords counts the words that are recognised well. A page on its head gives many
// others.
func sureWords(words []extract.Word) (n int) {
	for _, w := range words {
		if w.Confidence >= 0.6 && len(w.Text) >= 3 {
			n++
		}
	}
	return n
}

// turned tries the three other orientations of a page and returns the one with
// the most words.
func (r *Reader) turned(ctx context.Context, gray *image.Gray, photo bool, sure int) (*preparedPage, []extract.Word, error) {
	var best *preparedPage
	var bestWords []extract.Word
	most := max(5, sure*2)
	for _, orientation := range []int{6, 8, 3} {
		p := prepare(turnUpright(gray, orientation), photo)
		p.turn = orientation
		p.uploadedWidth, p.uploadedHeight = gray.Rect.Dx(), gray.Rect.Dy()
		found, err := r.readScaled(ctx, p, p.first)
		if err != nil {
			return nil, nil, err
		}
		if n := sureWords(found); n > most {
			most, best, bestWords = n, &p, found
		}
	}
	return best, bestWords, nil
}

// variant is one way to show a page to the recogniser.
type variant struct {
	picture *image.Gray
	scale   float64 // of the picture
	dpi     int
	mode    string
}

// readScaled reads one variant and moves the boxes to the straightened page and
// to the page as it was uploaded.
func (r *Reader) readScaled(ctx context.Context, p preparedPage, v variant) ([]extract.Word, error) {
	words, err := r.tesseract(ctx, v.picture, v.mode, v.dpi)
	if err != nil {
		return nil, err
	}
	for i := range words {
		b := &words[i].Box
		b.X, b.Y, b.Width, b.Height = b.X/v.scale, b.Y/v.scale, b.Width/v.scale, b.Height/v.scale
		original := p.original(*b)
		words[i].Original = &original
	}
	return words, nil
}

// original returns where a box of the straightened page is on the upload.
func (p preparedPage) original(b extract.Box) extract.Box {
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, corner := range [][2]float64{{b.X, b.Y}, {b.X + b.Width, b.Y}, {b.X, b.Y + b.Height}, {b.X + b.Width, b.Y + b.Height}} {
		x, y := corner[0], corner[1]
		if p.toUpload != nil {
			x, y = p.toUpload(x, y)
		}
		x, y = p.unturn(x, y)
		x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
	}
	return extract.Box{X: x0, Y: y0, Width: x1 - x0, Height: y1 - y0}
}

// unturn maps a point of a turned page to the upload.
func (p preparedPage) unturn(x, y float64) (float64, float64) {
	w, h := float64(p.uploadedWidth), float64(p.uploadedHeight)
	switch p.turn {
	case 3:
		return w - x, h - y
	case 6:
		return y, h - x
	case 8:
		return w - y, x
	}
	return x, y
}
