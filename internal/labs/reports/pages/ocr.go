package pages

import (
	"context"
	"image"

	"hale/internal/labs/reports/extract"
)

func (r *Reader) recognise(ctx context.Context, gray *image.Gray, photo bool) (extract.Page, error) {
	return extract.Page{}, ErrNoTesseract
}
