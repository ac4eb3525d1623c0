package pages

import (
	"image"
	"math"
	"slices"
)

// preparedPage is a page's image, treated for recognition in two ways.
type preparedPage struct {
	first, second                 variant
	dpi                           int
	base                          *image.Gray                           // straight and clean, in the size of the upload
	toUpload                      func(x, y float64) (float64, float64) // from the straightened page; nil when it is the same
	turn                          int                                   // EXIF orientation that was applied
	uploadedWidth, uploadedHeight int
}

// prepare chooses the treatment by the image. Clean scans are left alone, because
// treatments make them worse; speckle gets a median; uneven light is divided out;
// photos are straightened.
func prepare(gray *image.Gray, photo bool) preparedPage {
	var p preparedPage
	light := lightOf(gray)
	picture := gray
	if photo && light.uneven {
		if corners, ok := paperCorners(gray); ok {
			picture, p.toUpload = straighten(gray, corners)
		}
	}
	bilevel := isBilevel(picture)
	speckled := speckle(picture) > 0.0015
	base := picture
	if bilevel || speckled {
		if dpi := guessDPI(picture); dpi >= 180 && speckled {
			base = median3(base)
		}
	}
	if light.uneven {
		base = divideBackground(base)
	}
	if angle := skewOf(base); math.Abs(angle) > 0.15 {
		turned, back := rotate(base, angle)
		base = turned
		earlier := p.toUpload
		p.toUpload = func(x, y float64) (float64, float64) {
			x, y = back(x, y)
			if earlier != nil {
				return earlier(x, y)
			}
			return x, y
		}
	}
	dpi := guessDPI(base)
	p.dpi = dpi
	base = removeRules(base, dpi)
	removeDashes(base, dpi)
	removeLeaders(base, dpi)
	if dpi < trustedDPI {
		enlargePoints(base)
	}
	p.base = base
	firstScale, secondScale := 1.0, 1.5
	switch {
	case dpi < 120:
		firstScale, secondScale = 4, 3
	case dpi < 170:
		firstScale, secondScale = 2, 2.6
	case dpi < 230:
		firstScale, secondScale = 1.5, 2
	case dpi >= 280:
		firstScale, secondScale = 1, 0.8
	}
	p.first = scaleVariant(base, firstScale, dpi, bilevel)
	p.second = scaleVariant(base, secondScale, dpi, bilevel)
	return p
}

func scaleVariant(base *image.Gray, factor float64, dpi int, soften bool) variant {
	picture := base
	if factor != 1 {
		picture = resize(base, factor)
	}
	if soften && factor > 1.2 {
		picture = blur(picture, max(1, int(factor/2.5)))
	}
	return variant{picture: picture, scale: factor, dpi: int(float64(dpi) * factor), mode: oneColumn}
}

// guessDPI assumes that the page has about the size of A4 or letter: a width of 8.4
// inches, or of 11.4 in landscape format.
func guessDPI(gray *image.Gray) int {
	w, h := gray.Rect.Dx(), gray.Rect.Dy()
	inches := 8.4
	if w > h {
		inches = 11.4
	}
	return int(float64(w) / inches)
}

// lightMap describes how evenly a page is lit.
type lightMap struct {
	uneven bool
}

// lightOf looks at the bright level of a grid of blocks.
func lightOf(gray *image.Gray) lightMap {
	const grid = 12
	w, h := gray.Rect.Dx(), gray.Rect.Dy()
	var levels []int
	for by := range grid {
		for bx := range grid {
			var histogram [256]int
			count := 0
			for y := by * h / grid; y < (by+1)*h/grid; y += 3 {
				for x := bx * w / grid; x < (bx+1)*w/grid; x += 3 {
					histogram[gray.Pix[y*gray.Stride+x]]++
					count++
				}
			}
			need := count / 5 // the level that the brightest fifth reaches
			level := 255
			for need > 0 && level > 0 {
				need -= histogram[level]
				level--
			}
			levels = append(levels, level)
		}
	}
	slices.Sort(levels)
	low, high := levels[len(levels)/20], levels[len(levels)*19/20]
	return lightMap{uneven: high-low > 35}
}

// isBilevel reports whether an image has only black and white, as fax has.
func isBilevel(gray *image.Gray) bool {
	middle := 0
	for i := 0; i < len(gray.Pix); i += 7 {
		if v := gray.Pix[i]; v > 40 && v < 215 {
			middle++
		}
	}
	return middle*7*50 < len(gray.Pix)
}

// speckle returns the share of pixels that are dark and alone.
func speckle(gray *image.Gray) float64 {
	w, h := gray.Rect.Dx(), gray.Rect.Dy()
	alone, seen := 0, 0
	for y := 1; y < h-1; y += 2 {
		for x := 1; x < w-1; x += 2 {
			seen++
			at := y*gray.Stride + x
			if gray.Pix[at] > 110 {
				continue
			}
			dark := 0
			for _, d := range [8]int{-gray.Stride - 1, -gray.Stride, -gray.Stride + 1, -1, 1, gray.Stride - 1, gray.Stride, gray.Stride + 1} {
				if gray.Pix[at+d] < 150 {
					dark++
				}
			}
			if dark == 0 {
				alone++
			}
		}
	}
	return float64(alone) / float64(max(1, seen))
}

// median3 replaces each pixel with the median of its 3 × 3 neighbourhood.
func median3(in *image.Gray) *image.Gray {
	w, h := in.Rect.Dx(), in.Rect.Dy()
	out := image.NewGray(in.Rect)
	copy(out.Pix, in.Pix)
	var window [9]uint8
	for y := 1; y < h-1; y++ {
		for x := 1; x < w-1; x++ {
			at := y*in.Stride + x
			copy(window[0:3], in.Pix[at-in.Stride-1:])
			copy(window[3:6], in.Pix[at-1:])
			copy(window[6:9], in.Pix[at+in.Stride-1:])
			for i := range 5 { // sort the lower half
				least := i
				for j := i + 1; j < 9; j++ {
					if window[j] < window[least] {
						least = j
					}
				}
				window[i], window[least] = window[least], window[i]
			}
			out.Pix[y*out.Stride+x] = window[4]
		}
	}
	return out
}

// integral returns sums of all pixels above and left of each point.
func integral(in *image.Gray) ([]uint64, int) {
	w, h := in.Rect.Dx(), in.Rect.Dy()
	sums := make([]uint64, (w+1)*(h+1))
	for y := range h {
		row := uint64(0)
		for x := range w {
			row += uint64(in.Pix[y*in.Stride+x])
			sums[(y+1)*(w+1)+x+1] = sums[y*(w+1)+x+1] + row
		}
	}
	return sums, w + 1
}

// divideBackground makes paper white everywhere: each pixel is divided by the
// brightness of the paper around it. Dark pixels count less, so that text does
// not darken the paper.
func divideBackground(in *image.Gray) *image.Gray {
	w, h := in.Rect.Dx(), in.Rect.Dy()
	radius := max(8, w/60)
	sums, stride := integral(in)
	mean := func(x, y int) uint64 {
		x0, y0, x1, y1 := max(0, x-radius), max(0, y-radius), min(w, x+radius+1), min(h, y+radius+1)
		return (sums[y1*stride+x1] - sums[y0*stride+x1] - sums[y1*stride+x0] + sums[y0*stride+x0]) / uint64((x1-x0)*(y1-y0))
	}
	// Paper only: a pixel darker than its surroundings gets their brightness.
	paper := image.NewGray(in.Rect)
	for y := range h {
		for x := range w {
			v := in.Pix[y*in.Stride+x]
			if m := mean(x, y); uint64(v)*100 < m*92 {
				v = uint8(min(255, m))
			}
			paper.Pix[y*paper.Stride+x] = v
		}
	}
	sums, stride = integral(paper)
	out := image.NewGray(in.Rect)
	for y := range h {
		for x := range w {
			m := max(1, mean(x, y))
			out.Pix[y*out.Stride+x] = uint8(min(255, uint64(in.Pix[y*in.Stride+x])*235/m))
		}
	}
	return out
}

// blur averages over a square of the radius.
func blur(in *image.Gray, radius int) *image.Gray {
	if radius < 1 {
		return in
	}
	w, h := in.Rect.Dx(), in.Rect.Dy()
	sums, stride := integral(in)
	out := image.NewGray(in.Rect)
	for y := range h {
		y0, y1 := max(0, y-radius), min(h, y+radius+1)
		for x := range w {
			x0, x1 := max(0, x-radius), min(w, x+radius+1)
			out.Pix[y*out.Stride+x] = uint8((sums[y1*stride+x1] - sums[y0*stride+x1] - sums[y1*stride+x0] + sums[y0*stride+x0]) / uint64((x1-x0)*(y1-y0)))
		}
	}
	return out
}

// resize scales an image by bilinear interpolation.
func resize(in *image.Gray, factor float64) *image.Gray {
	w, h := max(1, int(float64(in.Rect.Dx())*factor)), max(1, int(float64(in.Rect.Dy())*factor))
	out := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			out.Pix[y*out.Stride+x] = sample(in, (float64(x)+0.5)/factor-0.5, (float64(y)+0.5)/factor-0.5)
		}
	}
	return out
}

// sample interpolates between four pixels. Outside of the image is white.
func sample(in *image.Gray, x, y float64) uint8 {
	w, h := in.Rect.Dx(), in.Rect.Dy()
	if x < -1 || y < -1 || x > float64(w) || y > float64(h) {
		return 255
	}
	x, y = min(max(x, 0), float64(w-1)), min(max(y, 0), float64(h-1))
	x0, y0 := int(x), int(y)
	x1, y1 := min(x0+1, w-1), min(y0+1, h-1)
	fx, fy := x-float64(x0), y-float64(y0)
	top := float64(in.Pix[y0*in.Stride+x0])*(1-fx) + float64(in.Pix[y0*in.Stride+x1])*fx
	bottom := float64(in.Pix[y1*in.Stride+x0])*(1-fx) + float64(in.Pix[y1*in.Stride+x1])*fx
	return uint8(top*(1-fy) + bottom*fy + 0.5)
}

// rotate turns an image by degrees around its centre. back maps points of the
// result to the input.
func rotate(in *image.Gray, degrees float64) (out *image.Gray, back func(x, y float64) (float64, float64)) {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	cx, cy := float64(in.Rect.Dx())/2, float64(in.Rect.Dy())/2
	back = func(x, y float64) (float64, float64) {
		dx, dy := x-cx, y-cy
		return cx + dx*cos - dy*sin, cy + dx*sin + dy*cos
	}
	out = image.NewGray(in.Rect)
	for y := range in.Rect.Dy() {
		for x := range in.Rect.Dx() {
			sx, sy := back(float64(x), float64(y))
			out.Pix[y*out.Stride+x] = sample(in, sx, sy)
		}
	}
	return out, back
}

// skewOf returns the angle of the lines of text in degrees, between -4 and 4. It
// is the angle at which the rows of a small copy differ most.
func skewOf(gray *image.Gray) float64 {
	small := shrink(gray, 1000)
	w, h := small.Rect.Dx(), small.Rect.Dy()
	type point struct{ x, y int32 }
	var dark []point
	threshold := darkLevel(small)
	for y := h / 20; y < h-h/20; y++ {
		for x := w / 20; x < w-w/20; x++ {
			if small.Pix[y*small.Stride+x] < threshold {
				dark = append(dark, point{int32(x), int32(y)})
			}
		}
	}
	if len(dark) < 200 {
		return 0
	}
	step := max(1, len(dark)/60_000)
	sharpness := func(degrees float64) float64 {
		slope := math.Tan(degrees * math.Pi / 180)
		rows := make([]float64, h*2+8*w)
		offset := w
		for i := 0; i < len(dark); i += step {
			p := dark[i]
			rows[int(float64(p.y)-slope*float64(p.x))+offset]++
		}
		sum := 0.0
		for i := 1; i < len(rows); i++ {
			d := rows[i] - rows[i-1]
			sum += d * d
		}
		return sum
	}
	best, most := 0.0, sharpness(0)*1.01
	for _, pass := range []struct{ span, step float64 }{{4, 0.25}, {0.25, 0.05}} {
		middle := best
		for a := middle - pass.span; a <= middle+pass.span; a += pass.step {
			if s := sharpness(a); s > most {
				best, most = a, s
			}
		}
	}
	return best
}

// darkLevel separates ink from paper by Otsu's method.
func darkLevel(gray *image.Gray) uint8 {
	var histogram [256]float64
	for _, v := range gray.Pix {
		histogram[v]++
	}
	total, sum := float64(len(gray.Pix)), 0.0
	for i, n := range histogram {
		sum += float64(i) * n
	}
	below, belowSum, best, level := 0.0, 0.0, 0.0, 128
	for i, n := range histogram {
		below += n
		belowSum += float64(i) * n
		if below == 0 || below == total {
			continue
		}
		d := belowSum/below - (sum-belowSum)/(total-below)
		if between := below * (total - below) * d * d; between > best {
			best, level = between, i
		}
	}
	return uint8(level)
}
