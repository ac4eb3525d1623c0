package pages

import (
	"context"
	"image"
	"math"

	"hale/internal/labs/reports/extract"
)

// lookAgain recognises the doubtful values of a report once more, alone and
// larger: as lines of one small image for each page.
func (r *Reader) lookAgain(ctx context.Context, result *extract.Result, pictures map[int]*image.Gray) error {
	for page, picture := range pictures {
		var rows []*extract.Row
		for i := range result.Rows {
			if row := &result.Rows[i]; row.Page == page && row.Doubtful() {
				rows = append(rows, row)
			}
		}
		if len(rows) == 0 {
			continue
		}
		sheet, lines := cutValues(picture, rows)
		words, err := r.tesseract(ctx, sheet, sparseText, 300, "-c", "tessedit_char_whitelist=0123456789.,<>-+:HL")
		if err != nil {
			return err
		}
		for i, row := range rows {
			var parts []string
			for _, w := range words {
				if y := int(w.Box.Y + w.Box.Height/2); y >= lines[i] && y < lines[i+1] && w.Confidence > 0.5 {
					parts = append(parts, w.Text)
				}
			}
			if len(parts) == 1 {
				row.Reconsider(parts[0])
			}
		}
	}
	return nil
}

// valueHeight is the height of a digit in the image of values: tesseract reads
// letters of about 30 pixels best.
const valueHeight = 32

// cutValues draws values below each other. lines holds the upper edges, and the
// lower edge of the last.
func cutValues(picture *image.Gray, rows []*extract.Row) (sheet *image.Gray, lines []int) {
	const line, width, margin = 3 * valueHeight, 900, 40
	sheet = image.NewGray(image.Rect(0, 0, width, line*len(rows)+2*margin))
	for i := range sheet.Pix {
		sheet.Pix[i] = 255
	}
	for i, row := range rows {
		top := margin + i*line
		lines = append(lines, top)
		b := *row.ValueBox
		height := min(max(b.Height, 4), 80)
		factor := valueHeight / height
		x0, y0 := b.X-0.35*height, b.Y+b.Height/2-0.85*height
		w := min(int((b.Width+0.7*height)*factor), width-2*margin)
		for y := range int(1.7 * height * factor) {
			for x := range w {
				sx, sy := x0+float64(x)/factor, y0+float64(y)/factor
				if at := top + y + line/6; at < sheet.Rect.Dy() && !math.IsNaN(sx+sy) {
					sheet.Pix[at*sheet.Stride+margin+x] = sample(picture, sx, sy)
				}
			}
		}
	}
	return sheet, append(lines, margin+len(rows)*line)
}
