package main

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"

	"hale/internal/labs/reports/pages"
)

// degrade makes an image of a report's first page as a machine of the class delivers
// them.
func degrade(ctx context.Context, reader *pages.Reader, class string, pdf []byte, random *rand.Rand) ([]pages.File, error) {
	dpi := map[string]int{"scan 300 dpi": 300, "scan 200 dpi": 200, "photo": 270, "fax": 100}[class]
	sheet, err := reader.Render(ctx, pdf, 1, dpi)
	if err != nil {
		return nil, err
	}
	var f pages.File
	switch class {
	case "fax":
		f, err = fax(sheet, random)
	case "photo":
		f, err = photo(sheet, random)
	default:
		f, err = scan(sheet, random)
	}
	return []pages.File{f}, err
}

func encodeJPEG(picture image.Image, quality int) (pages.File, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, picture, &jpeg.Options{Quality: quality})
	return pages.File{Type: "image/jpeg", Data: b.Bytes()}, err
}

// scan returns a clean flatbed scan of a sheet: slightly turned, with the noise of a
// sensor.
func scan(sheet *image.Gray, random *rand.Rand) (pages.File, error) {
	angle := (random.Float64()*2 - 1) * 0.8
	out := warp(sheet, sheet.Rect.Dx(), sheet.Rect.Dy(), turnBack(sheet.Rect, angle), 255)
	noise(out, random, 5)
	return encodeJPEG(out, 80)
}

// fax returns a sheet as a fax delivers it: in black and white, slightly turned, with
// speckle. degrade renders the sheet for it at 100 dpi.
func fax(sheet *image.Gray, random *rand.Rand) (pages.File, error) {
	out := warp(sheet, sheet.Rect.Dx(), sheet.Rect.Dy(), turnBack(sheet.Rect, (random.Float64()*2-1)*0.3), 255)
	for i, v := range out.Pix {
		out.Pix[i] = 255
		if v < 165 {
			out.Pix[i] = 0
		}
		if random.IntN(4000) == 0 {
			out.Pix[i] = 0
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, out)
	return pages.File{Type: "image/png", Data: b.Bytes()}, err
}

// photo returns a photo of a sheet on a dark desk, seen at an angle under uneven light.
func photo(sheet *image.Gray, random *rand.Rand) (pages.File, error) {
	w, h := float64(sheet.Rect.Dx()), float64(sheet.Rect.Dy())
	outW, outH := int(w*1.18), int(h*1.15)
	jitter := func(scale float64) float64 { return (random.Float64()*2 - 1) * scale * w }
	margin := 0.09 * w
	corners := [4][2]float64{
		{margin + jitter(0.03), margin + jitter(0.03)},
		{margin + w + jitter(0.03), margin + jitter(0.03)},
		{margin + w + jitter(0.03), margin + h*0.97 + jitter(0.03)},
		{margin + jitter(0.03), margin + h*0.97 + jitter(0.03)},
	}
	out := warp(sheet, outW, outH, projective(corners, w, h), 70)
	angle, depth := random.Float64()*2*math.Pi, 0.2+0.25*random.Float64()
	dx, dy := math.Cos(angle), math.Sin(angle)
	for y := range outH {
		for x := range outW {
			t := (float64(x)/float64(outW)-0.5)*dx + (float64(y)/float64(outH)-0.5)*dy // -0.7 to 0.7
			at := y*out.Stride + x
			out.Pix[at] = uint8(float64(out.Pix[at]) * (0.92 - depth*(t+0.5)*0.8))
		}
	}
	blurPicture(out)
	noise(out, random, 6)
	return encodeJPEG(out, 75)
}

// turnBack maps points of the result to a sheet that is rotated by degrees.
func turnBack(r image.Rectangle, degrees float64) func(x, y float64) (float64, float64) {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	cx, cy := float64(r.Dx())/2, float64(r.Dy())/2
	return func(x, y float64) (float64, float64) {
		dx, dy := x-cx, y-cy
		return cx + dx*cos - dy*sin, cy + dx*sin + dy*cos
	}
}

// projective maps points of the result to a sheet whose corners are given.
func projective(c [4][2]float64, w, h float64) func(x, y float64) (float64, float64) {
	dx1, dy1 := c[1][0]-c[2][0], c[1][1]-c[2][1]
	dx2, dy2 := c[3][0]-c[2][0], c[3][1]-c[2][1]
	sx, sy := c[0][0]-c[1][0]+c[2][0]-c[3][0], c[0][1]-c[1][1]+c[2][1]-c[3][1]
	den := dx1*dy2 - dx2*dy1
	g, k := (sx*dy2-dx2*sy)/den, (dx1*sy-sx*dy1)/den
	m := [9]float64{
		c[1][0] - c[0][0] + g*c[1][0], c[3][0] - c[0][0] + k*c[3][0], c[0][0],
		c[1][1] - c[0][1] + g*c[1][1], c[3][1] - c[0][1] + k*c[3][1], c[0][1], g, k, 1,
	}
	// The inverse, by cofactors.
	inv := [9]float64{
		m[4]*m[8] - m[5]*m[7], m[2]*m[7] - m[1]*m[8], m[1]*m[5] - m[2]*m[4],
		m[5]*m[6] - m[3]*m[8], m[0]*m[8] - m[2]*m[6], m[2]*m[3] - m[0]*m[5],
		m[3]*m[7] - m[4]*m[6], m[1]*m[6] - m[0]*m[7], m[0]*m[4] - m[1]*m[3],
	}
	return func(x, y float64) (float64, float64) {
		z := inv[6]*x + inv[7]*y + inv[8]
		return (inv[0]*x + inv[1]*y + inv[2]) / z * w, (inv[3]*x + inv[4]*y + inv[5]) / z * h
	}
}

// warp draws a picture of w by h pixels. back maps its points to the sheet. Points
// outside of the sheet get the color ground.
func warp(sheet *image.Gray, w, h int, back func(x, y float64) (float64, float64), ground uint8) *image.Gray {
	out := image.NewGray(image.Rect(0, 0, w, h))
	sw, sh := sheet.Rect.Dx(), sheet.Rect.Dy()
	for y := range h {
		for x := range w {
			sx, sy := back(float64(x), float64(y))
			if sx < 0 || sy < 0 || sx >= float64(sw-1) || sy >= float64(sh-1) {
				out.Pix[y*out.Stride+x] = ground
				continue
			}
			x0, y0 := int(sx), int(sy)
			fx, fy := sx-float64(x0), sy-float64(y0)
			at := y0*sheet.Stride + x0
			top := float64(sheet.Pix[at])*(1-fx) + float64(sheet.Pix[at+1])*fx
			bottom := float64(sheet.Pix[at+sheet.Stride])*(1-fx) + float64(sheet.Pix[at+sheet.Stride+1])*fx
			out.Pix[y*out.Stride+x] = uint8(top*(1-fy) + bottom*fy + 0.5)
		}
	}
	return out
}

func noise(picture *image.Gray, random *rand.Rand, sigma float64) {
	for i, v := range picture.Pix {
		picture.Pix[i] = uint8(min(255, max(0, float64(v)+random.NormFloat64()*sigma)))
	}
}

// blurPicture blurs as a lens out of focus by about a pixel.
func blurPicture(picture *image.Gray) {
	w, h := picture.Rect.Dx(), picture.Rect.Dy()
	in := append([]uint8(nil), picture.Pix...)
	for y := 1; y < h-1; y++ {
		for x := 1; x < w-1; x++ {
			at := y*picture.Stride + x
			sum := 4*int(in[at]) + 2*(int(in[at-1])+int(in[at+1])+int(in[at-picture.Stride])+int(in[at+picture.Stride])) +
				int(in[at-picture.Stride-1]) + int(in[at-picture.Stride+1]) + int(in[at+picture.Stride-1]) + int(in[at+picture.Stride+1])
			picture.Pix[at] = uint8(sum / 16)
		}
	}
}
