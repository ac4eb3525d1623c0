package orders

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // registers the format
	"image/png"

	"hale/internal/platform/store"
)

// The image of a physician's signature is sealed in a column of its own, which
// only the requisition reads. The service stores it as a small grey PNG, in
// whichever format the caller sent it. So the requisition can print it, and it
// contains no hidden data.

const signaturePlace = "orders.signature:"

// Limits of an image of a signature.
const (
	largestSignature = 1 << 20 // bytes as sent
	widestSignature  = 2000    // pixels as sent, in both directions
	printedSignature = 480     // pixels of the stored width
)

// errSignature refuses an image.
var errSignature = errors.New("must be a PNG or JPEG image of at most 1 MiB and 2000 by 2000 pixels")

// normalizeSignature returns the image as it is stored.
func normalizeSignature(raw []byte) ([]byte, error) {
	if len(raw) > largestSignature {
		return nil, errSignature
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil || format != "png" && format != "jpeg" || size.Width < 1 || size.Height < 1 || size.Width > widestSignature || size.Height > widestSignature {
		return nil, errSignature
	}
	sent, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, errSignature
	}
	scale := max(1, (size.Width+printedSignature-1)/printedSignature)
	paper := image.NewRGBA(sent.Bounds())
	draw.Draw(paper, paper.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(paper, paper.Bounds(), sent, sent.Bounds().Min, draw.Over)
	small := image.NewGray(image.Rect(0, 0, (size.Width+scale-1)/scale, (size.Height+scale-1)/scale))
	for y := range small.Rect.Max.Y {
		for x := range small.Rect.Max.X {
			small.SetGray(x, y, meanGray(paper, x*scale, y*scale, scale))
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, small); err != nil {
		return nil, fmt.Errorf("orders: encoding a signature: %w", err)
	}
	return out.Bytes(), nil
}

// meanGray returns the mean of a square of pixels.
func meanGray(from *image.RGBA, x, y, size int) color.Gray {
	sum, n := 0, 0
	for dy := range size {
		for dx := range size {
			at := from.Rect.Min.Add(image.Pt(x+dx, y+dy))
			if at.In(from.Rect) {
				sum += int(color.GrayModel.Convert(from.RGBAAt(at.X, at.Y)).(color.Gray).Y)
				n++
			}
		}
	}
	return color.Gray{Y: uint8(sum / max(n, 1))}
}

// Signature returns the image of the physician's signature, a PNG, or nil if the
// order has none.
func Signature(ctx context.Context, tx *store.Tx, o *Order) ([]byte, error) {
	var sealed []byte
	if err := tx.QueryRow(ctx, `SELECT signature FROM orders WHERE team_id = $1 AND id = $2`, o.Team, o.ID).Scan(&sealed); err != nil {
		return nil, fmt.Errorf("orders: reading the signature of %s: %w", o.ID, err)
	}
	if sealed == nil {
		return nil, nil
	}
	return tx.Unseal(ctx, o.Team.UUID(), o.User.UUID(), signaturePlace+o.ID.String(), sealed)
}

// saveSignature stores the signature of the order's physician. It does nothing
// for a physician without one.
func saveSignature(ctx context.Context, tx *store.Tx, o *Order) error {
	p := o.Body.Physician
	if p == nil || len(p.Signature) == 0 {
		return nil
	}
	sealed, err := tx.Seal(ctx, o.Team.UUID(), o.User.UUID(), signaturePlace+o.ID.String(), p.Signature)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE orders SET signature = $3 WHERE team_id = $1 AND id = $2`, o.Team, o.ID, sealed); err != nil {
		return fmt.Errorf("orders: storing the signature of %s: %w", o.ID, err)
	}
	return nil
}

// copySignature gives a new order the signature of the one that it follows, if
// both have the same physician.
func copySignature(ctx context.Context, tx *store.Tx, next *Order) error {
	if next.Parent == nil || next.Body.Physician == nil {
		return nil
	}
	parent, err := Get(ctx, tx, next.Team, *next.Parent)
	if err != nil || parent.Body.Physician == nil || parent.Body.Physician.NPI != next.Body.Physician.NPI {
		return err
	}
	image, err := Signature(ctx, tx, &parent)
	if err != nil {
		return err
	}
	physician := *next.Body.Physician
	physician.Signature = image
	next.Body.Physician = &physician
	return nil
}
