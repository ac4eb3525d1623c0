package pages

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"

	"hale/internal/labs/reports/extract"
)

func tooManyPages(pages, limit int) error {
	return &extract.Failure{Reason: extract.TooManyPages, Detail: fmt.Sprintf("the report has %d pages; at most %d are read", pages, limit)}
}

func noPage(page int) error {
	return &extract.Failure{Reason: extract.InvalidInput, Detail: fmt.Sprintf("the report has no page %d", page)}
}

func invalidFile(format string, args ...any) error {
	return &extract.Failure{Reason: extract.InvalidInput, Detail: fmt.Sprintf(format, args...)}
}

var magics = map[string][]byte{
	"application/pdf": []byte("%PDF-"), "image/jpeg": {0xff, 0xd8, 0xff}, "image/png": []byte("\x89PNG\r\n\x1a\n"),
}

// checkKinds compares declared types with first bytes: one PDF, or images.
func checkKinds(files []File, config Config) error {
	if len(files) == 0 {
		return invalidFile("the upload has no file")
	}
	if len(files) > config.MaxPages {
		return tooManyPages(len(files), config.MaxPages)
	}
	for i, f := range files {
		magic, known := magics[f.Type]
		switch {
		case !known:
			return invalidFile("file %d has the type %q; PDF, JPEG and PNG are read", i+1, f.Type)
		case len(f.Data) == 0:
			return invalidFile("file %d is empty", i+1)
		case !bytes.HasPrefix(f.Data, magic):
			return invalidFile("file %d is not what its type %s says", i+1, f.Type)
		case f.Type == "application/pdf" && len(files) > 1:
			return invalidFile("a PDF must be the only file of a report")
		}
	}
	return nil
}

// imageHead checks the size of an image before it is decoded.
func (r *Reader) imageHead(f File) (image.Config, error) {
	head, format, err := image.DecodeConfig(bytes.NewReader(f.Data))
	switch {
	case err != nil || "image/"+format != f.Type:
		return head, invalidFile("the image is damaged and cannot be opened")
	case head.Width < 50 || head.Height < 50:
		return head, invalidFile("the image is too small: %d × %d pixels", head.Width, head.Height)
	case head.Width > r.config.MaxPixels/head.Height:
		return head, invalidFile("the image has %d × %d pixels; at most %d million pixels are read", head.Width, head.Height, r.config.MaxPixels/1_000_000)
	}
	return head, nil
}

// decode returns an image in gray and upright.
func (r *Reader) decode(f File) (*image.Gray, error) {
	if _, err := r.imageHead(f); err != nil {
		return nil, err
	}
	picture, _, err := image.Decode(bytes.NewReader(f.Data))
	if err != nil {
		return nil, invalidFile("the image is damaged and cannot be decoded")
	}
	gray := toGray(picture)
	if f.Type == "image/jpeg" {
		gray = turnUpright(gray, exifOrientation(f.Data))
	}
	return gray, nil
}

func toGray(picture image.Image) *image.Gray {
	b := picture.Bounds()
	out := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	switch p := picture.(type) {
	case *image.Gray:
		for y := range b.Dy() {
			copy(out.Pix[y*out.Stride:(y+1)*out.Stride], p.Pix[p.PixOffset(b.Min.X, b.Min.Y+y):])
		}
	case *image.YCbCr:
		for y := range b.Dy() {
			start := p.YOffset(b.Min.X, b.Min.Y+y)
			copy(out.Pix[y*out.Stride:(y+1)*out.Stride], p.Y[start:start+b.Dx()])
		}
	default:
		for y := range b.Dy() {
			for x := range b.Dx() {
				c := picture.At(b.Min.X+x, b.Min.Y+y)
				if _, _, _, alpha := c.RGBA(); alpha == 0 {
					out.Pix[y*out.Stride+x] = 255 // transparent is paper
					continue
				}
				out.Pix[y*out.Stride+x] = color.GrayModel.Convert(c).(color.Gray).Y
			}
		}
	}
	return out
}

// exifOrientation returns the orientation tag of a JPEG, 1 when it has none.
func exifOrientation(data []byte) int {
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		marker, size := data[at+1], int(binary.BigEndian.Uint16(data[at+2:]))
		if marker == 0xda || size < 2 || at+2+size > len(data) {
			break
		}
		if segment := data[at+4 : at+2+size]; marker == 0xe1 && len(segment) > 14 && string(segment[:6]) == "Exif\x00\x00" {
			return tiffOrientation(segment[6:])
		}
		at += 2 + size
	}
	return 1
}

func tiffOrientation(tiff []byte) int {
	var order binary.ByteOrder = binary.LittleEndian
	if string(tiff[:2]) == "MM" {
		order = binary.BigEndian
	}
	offset := int64(order.Uint32(tiff[4:]))
	if offset+2 > int64(len(tiff)) {
		return 1
	}
	entries := int(order.Uint16(tiff[offset:]))
	for i := range entries {
		at := offset + 2 + int64(i)*12
		if at+12 > int64(len(tiff)) {
			break
		}
		if order.Uint16(tiff[at:]) == 0x0112 {
			if v := int(order.Uint16(tiff[at+8:])); v >= 1 && v <= 8 {
				return v
			}
		}
	}
	return 1
}

// turnUpright turns and mirrors an image as an EXIF orientation says.
func turnUpright(in *image.Gray, orientation int) *image.Gray {
	if orientation <= 1 || orientation > 8 {
		return in
	}
	w, h := in.Rect.Dx(), in.Rect.Dy()
	outW, outH := w, h
	if orientation >= 5 {
		outW, outH = h, w
	}
	out := image.NewGray(image.Rect(0, 0, outW, outH))
	for y := range outH {
		for x := range outW {
			sx, sy := x, y
			switch orientation {
			case 2:
				sx = w - 1 - x
			case 3:
				sx, sy = w-1-x, h-1-y
			case 4:
				sy = h - 1 - y
			case 5:
				sx, sy = y, x
			case 6:
				sx, sy = y, h-1-x
			case 7:
				sx, sy = w-1-y, h-1-x
			case 8:
				sx, sy = w-1-y, x
			}
			out.Pix[y*out.Stride+x] = in.Pix[sy*in.Stride+sx]
		}
	}
	return out
}

// shrink makes an image at most so many pixels wide or high, by averages.
func shrink(in *image.Gray, limit int) *image.Gray {
	w, h := in.Rect.Dx(), in.Rect.Dy()
	if w <= limit && h <= limit {
		return in
	}
	factor := float64(max(w, h)) / float64(limit)
	outW, outH := max(1, int(float64(w)/factor)), max(1, int(float64(h)/factor))
	out := image.NewGray(image.Rect(0, 0, outW, outH))
	for y := range outH {
		y0, y1 := y*h/outH, max(y*h/outH+1, (y+1)*h/outH)
		for x := range outW {
			x0, x1 := x*w/outW, max(x*w/outW+1, (x+1)*w/outW)
			sum := 0
			for sy := y0; sy < y1; sy++ {
				for _, v := range in.Pix[sy*in.Stride+x0 : sy*in.Stride+x1] {
					sum += int(v)
				}
			}
			out.Pix[y*out.Stride+x] = uint8(sum / ((y1 - y0) * (x1 - x0)))
		}
	}
	return out
}

// isBlank reports whether an image is empty paper, or dark all over.
func isBlank(in *image.Gray) bool {
	dark := 0
	for _, v := range in.Pix {
		if v < 128 {
			dark++
		}
	}
	return min(dark, len(in.Pix)-dark)*20_000 < len(in.Pix)
}
