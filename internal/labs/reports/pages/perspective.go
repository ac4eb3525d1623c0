package pages

import (
	"image"
	"math"
)

type point struct{ x, y float64 }

// paperCorners finds a bright sheet on a darker ground: upper left, upper right,
// lower right, lower left. ok is false when the sheet fills the image or is not
// clear.
func paperCorners(gray *image.Gray) (corners [4]point, ok bool) {
	const size = 400
	small := shrink(gray, size)
	small = blur(small, 2)
	w, h := small.Rect.Dx(), small.Rect.Dy()
	factor := float64(gray.Rect.Dx()) / float64(w)
	threshold := darkLevel(small)
	bright := func(x, y int) bool { return small.Pix[y*small.Stride+x] > threshold }
	// The largest connected bright area from the centre.
	seen := make([]bool, w*h)
	queue := make([]int, 0, w*h)
	push := func(x, y int) {
		if x >= 0 && y >= 0 && x < w && y < h && !seen[y*w+x] && bright(x, y) {
			seen[y*w+x] = true
			queue = append(queue, y*w+x)
		}
	}
	for dy := -h / 6; dy <= h/6; dy += 4 {
		for dx := -w / 6; dx <= w/6; dx += 4 {
			push(w/2+dx, h/2+dy)
		}
	}
	for i := 0; i < len(queue); i++ {
		x, y := queue[i]%w, queue[i]/w
		push(x+1, y)
		push(x-1, y)
		push(x, y+1)
		push(x, y-1)
	}
	if len(queue) < w*h/4 {
		return corners, false
	}
	// Corners are the extremes along the diagonals.
	most := [4]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for _, at := range queue {
		x, y := float64(at%w), float64(at/w)
		for i, d := range [4]float64{-x - y, x - y, x + y, -x + y} {
			if d > most[i] {
				most[i], corners[i] = d, point{x, y}
			}
		}
	}
	margin := 0.0
	for i, edge := range [4]point{{0, 0}, {float64(w - 1), 0}, {float64(w - 1), float64(h - 1)}, {0, float64(h - 1)}} {
		margin = max(margin, math.Hypot(corners[i].x-edge.x, corners[i].y-edge.y))
		corners[i] = point{corners[i].x * factor, corners[i].y * factor}
	}
	// Sides must have about the same length as the opposite ones.
	side := func(i, j int) float64 {
		return math.Hypot(corners[i].x-corners[j].x, corners[i].y-corners[j].y)
	}
	top, right, bottom, left := side(0, 1), side(1, 2), side(2, 3), side(3, 0)
	square := min(top, bottom)/max(top, bottom) > 0.6 && min(left, right)/max(left, right) > 0.6 && min(top, left) > 0.3*float64(min(gray.Rect.Dx(), gray.Rect.Dy()))
	return corners, square && margin > 3
}

// straighten maps the sheet between corners to a rectangle. back maps points of
// the result to the input.
func straighten(in *image.Gray, c [4]point) (*image.Gray, func(x, y float64) (float64, float64)) {
	distance := func(a, b point) float64 { return math.Hypot(a.x-b.x, a.y-b.y) }
	w := int(max(distance(c[0], c[1]), distance(c[3], c[2])))
	h := int(max(distance(c[0], c[3]), distance(c[1], c[2])))
	// The projective map of the unit square to four points (Heckbert 1989).
	dx1, dy1 := c[1].x-c[2].x, c[1].y-c[2].y
	dx2, dy2 := c[3].x-c[2].x, c[3].y-c[2].y
	sx, sy := c[0].x-c[1].x+c[2].x-c[3].x, c[0].y-c[1].y+c[2].y-c[3].y
	determinant := dx1*dy2 - dx2*dy1
	if w < 50 || h < 50 || math.Abs(determinant) < 1e-9 {
		return in, nil
	}
	g := (sx*dy2 - dx2*sy) / determinant
	k := (dx1*sy - sx*dy1) / determinant
	a, b := c[1].x-c[0].x+g*c[1].x, c[3].x-c[0].x+k*c[3].x
	d, e := c[1].y-c[0].y+g*c[1].y, c[3].y-c[0].y+k*c[3].y
	back := func(x, y float64) (float64, float64) {
		u, v := x/float64(w), y/float64(h)
		z := g*u + k*v + 1
		return (a*u + b*v + c[0].x) / z, (d*u + e*v + c[0].y) / z
	}
	out := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			px, py := back(float64(x), float64(y))
			out.Pix[y*out.Stride+x] = sample(in, px, py)
		}
	}
	return out, back
}
