package reports

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"

	"hale/internal/labs/reports/extract"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// The colors of boxes: a result that the reader is sure of, and one that a person should
// compare.
var (
	sureColor   = color.RGBA{0x1b, 0x7f, 0x3b, 0xff}
	unsureColor = color.RGBA{0xd0, 0x35, 0x1e, 0xff}
)

// maxDrawnPixels bounds the images that this process decodes. The reader draws pages with
// fewer pixels.
const maxDrawnPixels = 40_000_000

// MarkedImage returns the image of a page with a box around each result.
func (s *Service) MarkedImage(ctx context.Context, team teams.ID, id ID, page int) ([]byte, error) {
	picture, err := s.Image(ctx, team, id, page)
	if err != nil {
		return nil, err
	}
	var v Version
	err = s.DB.Read(ctx, func(tx *store.Tx) error {
		j, err := Get(ctx, tx, team, id)
		if err != nil {
			return err
		}
		r, err := Results(ctx, tx, &j)
		v = r.Version
		return err
	})
	if err != nil {
		return nil, err
	}
	return v.drawBoxes(picture, page)
}

// drawBoxes draws the boxes of the rows of a page.
func (v *Version) drawBoxes(picture []byte, page int) ([]byte, error) {
	head, err := jpeg.DecodeConfig(bytes.NewReader(picture))
	if err != nil || head.Width*head.Height > maxDrawnPixels {
		return nil, fault.New(fault.Unprocessable, "The page's image has no room for boxes; get it without")
	}
	decoded, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, fmt.Errorf("reports: decoding the image of a page: %w", err)
	}
	canvas := image.NewRGBA(decoded.Bounds())
	draw.Draw(canvas, canvas.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	for i := range v.Rows {
		r := &v.Rows[i]
		if r.Page != page || v.Removed[i] || r.Box == (extract.Box{}) {
			continue
		}
		c := sureColor
		if r.NeedsReview {
			c = unsureColor
		}
		drawBox(canvas, r.Box, c)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, canvas, &jpeg.Options{Quality: 85}); err != nil {
		return nil, fmt.Errorf("reports: encoding the image of a page: %w", err)
	}
	return out.Bytes(), nil
}

// drawBox draws a frame, in fractions of the image.
func drawBox(canvas *image.RGBA, b extract.Box, c color.RGBA) {
	size := canvas.Bounds().Size()
	at := func(x, y float64) image.Point { return image.Pt(int(x*float64(size.X)), int(y*float64(size.Y))) }
	outer := image.Rectangle{Min: at(b.X, b.Y), Max: at(b.X+b.Width, b.Y+b.Height)}
	width := max(2, size.X/500)
	outer = outer.Inset(-width)
	paint := image.NewUniform(c)
	for _, side := range []image.Rectangle{
		{Min: outer.Min, Max: image.Pt(outer.Max.X, outer.Min.Y+width)},
		{Min: image.Pt(outer.Min.X, outer.Max.Y-width), Max: outer.Max},
		{Min: outer.Min, Max: image.Pt(outer.Min.X+width, outer.Max.Y)},
		{Min: image.Pt(outer.Max.X-width, outer.Min.Y), Max: outer.Max},
	} {
		draw.Draw(canvas, side.Intersect(canvas.Bounds()), paint, image.Point{}, draw.Src)
	}
}
