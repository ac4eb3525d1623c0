package pages

import (
	"image"
	"math"
	"slices"
)

// spot is a small group of dark pixels that touch each other.
type spot struct {
	box    image.Rectangle
	pixels int
}

func (s spot) centre() (x, y float64) {
	return float64(s.box.Min.X+s.box.Max.X-1) / 2, float64(s.box.Min.Y+s.box.Max.Y-1) / 2
}

// The states of a pixel while spots are searched.
const (
	pixelNew = iota
	pixelInSpot
	pixelInLarge // part of a group that is too large
)

// findSpots returns the groups of dark pixels that are at most so wide and high, from
// left to right. It leaves a group when that is too large, so that a dark page needs
// little memory.
func findSpots(in *image.Gray, width, height int) []spot {
	w, h := in.Rect.Dx(), in.Rect.Dy()
	threshold := darkLevel(in)
	state := make([]uint8, w*h)
	var spots []spot
	var group []image.Point
	for y := range h {
		for x := range w {
			if state[y*w+x] != pixelNew || in.Pix[y*in.Stride+x] > threshold {
				continue
			}
			s := spot{box: image.Rect(x, y, x+1, y+1)}
			state[y*w+x] = pixelInSpot
			isLarge := false
			group = append(group[:0], image.Pt(x, y))
			for ; s.pixels < len(group) && !isLarge; s.pixels++ {
				p := group[s.pixels]
				s.box = s.box.Union(image.Rect(p.X, p.Y, p.X+1, p.Y+1))
				isLarge = s.box.Dx() > width || s.box.Dy() > height
				for ny := max(0, p.Y-1); ny <= min(h-1, p.Y+1); ny++ {
					for nx := max(0, p.X-1); nx <= min(w-1, p.X+1); nx++ {
						switch at := ny*w + nx; {
						case in.Pix[ny*in.Stride+nx] > threshold:
						case state[at] == pixelInLarge:
							isLarge = true
						case state[at] == pixelNew:
							state[at] = pixelInSpot
							group = append(group, image.Pt(nx, ny))
						}
					}
				}
			}
			if !isLarge {
				spots = append(spots, s)
				continue
			}
			for _, p := range group {
				state[p.Y*w+p.X] = pixelInLarge
			}
		}
	}
	slices.SortStableFunc(spots, func(a, b spot) int { return a.box.Min.X - b.box.Min.X })
	return spots
}

// removeDashes erases flat strokes in place that are longer than a dash: a dotted rule of
// a coarse image consists of them.
func removeDashes(picture *image.Gray, dpi int) {
	for _, s := range findSpots(picture, picture.Rect.Dx(), max(2, dpi/50)) {
		if s.box.Dx() >= dpi/6 {
			whiten(picture, s.box.Inset(-1))
		}
	}
}

// leaderDots is the least number of equally spaced dots that are a leader between a name
// and its value.
const leaderDots = 5

// removeLeaders erases chains of dots in place: recognition mistakes them for letters.
func removeLeaders(picture *image.Gray, dpi int) {
	spots := findSpots(picture, max(2, dpi/25), max(2, dpi/25))
	rows := map[int][]int{} // places in spots, by a coarse height
	coarse := max(3, dpi/25)
	for i, s := range spots {
		_, y := s.centre()
		rows[int(y)/coarse] = append(rows[int(y)/coarse], i)
	}
	used := make([]bool, len(spots))
	for i := range spots {
		if used[i] {
			continue
		}
		chain := []int{i}
		pitch := 0.0
		for {
			next := nextDot(spots, rows, coarse, chain[len(chain)-1], pitch, dpi)
			if next < 0 {
				break
			}
			if pitch == 0 {
				x0, _ := spots[i].centre()
				x1, _ := spots[next].centre()
				pitch = x1 - x0
			}
			chain = append(chain, next)
		}
		if len(chain) < leaderDots {
			continue
		}
		for _, at := range chain {
			used[at] = true
			whiten(picture, spots[at].box.Inset(-1))
		}
	}
}

// nextDot returns the dot that continues a chain, or -1. A pitch of 0 allows any gap that
// dots of a leader can have.
func nextDot(spots []spot, rows map[int][]int, coarse, from int, pitch float64, dpi int) int {
	x, y := spots[from].centre()
	least, most := float64(dpi)/50, float64(dpi)/8
	if pitch > 0 {
		slack := max(1.1, 0.25*pitch)
		least, most = pitch-slack, pitch+slack
	}
	best, distance := -1, math.Inf(1)
	for row := int(y)/coarse - 1; row <= int(y)/coarse+1; row++ {
		for _, i := range rows[row] {
			nx, ny := spots[i].centre()
			if gap := nx - x; gap >= least && gap <= most && gap < distance && math.Abs(ny-y) <= max(1.1, float64(dpi)/100) {
				best, distance = i, gap
			}
		}
	}
	return best
}

func whiten(picture *image.Gray, box image.Rectangle) {
	box = box.Intersect(picture.Rect)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			picture.Pix[y*picture.Stride+x] = 255
		}
	}
}

// enlargePoints makes decimal points of one pixel larger in place, so that they remain
// when the page is scaled. A point has a digit on each side, and its foot is theirs;
// speckle seldom has.
func enlargePoints(picture *image.Gray) {
	in := &image.Gray{Pix: slices.Clone(picture.Pix), Stride: picture.Stride, Rect: picture.Rect}
	threshold := darkLevel(in)
	dark := func(box image.Rectangle) bool {
		box = box.Intersect(in.Rect)
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				if in.Pix[y*in.Stride+x] <= threshold {
					return true
				}
			}
		}
		return false
	}
	for _, s := range findSpots(in, 2, 2) {
		b := s.box
		foot := b.Max.Y - 1
		left, right := image.Rect(b.Min.X-5, foot-7, b.Min.X-1, foot-1), image.Rect(b.Max.X+1, foot-7, b.Max.X+5, foot-1)
		above := image.Rect(b.Min.X-1, foot-7, b.Max.X+1, b.Min.Y-1)
		below := image.Rect(b.Min.X-4, foot+2, b.Max.X+4, foot+4)
		if !dark(left) || !dark(right) || dark(above) || dark(below) {
			continue
		}
		for y := foot - 1; y <= foot; y++ {
			for x := b.Min.X; x < max(b.Max.X, b.Min.X+2); x++ {
				if image.Pt(x, y).In(picture.Rect) {
					picture.Pix[y*picture.Stride+x] = 0
				}
			}
		}
	}
}
