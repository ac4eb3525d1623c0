package pages

import "image"

// removeRules erases the lines of tables, solid and dotted, because recognition
// mistakes them for letters. A rule is thin and longer than a word.
func removeRules(in *image.Gray, dpi int) *image.Gray {
	out := image.NewGray(in.Rect)
	copy(out.Pix, in.Pix)
	threshold := darkLevel(in)
	eraseRules(in, out, in.Rect.Dx(), in.Rect.Dy(), 1, in.Stride, dpi, threshold)
	eraseRules(in, out, in.Rect.Dy(), in.Rect.Dx(), in.Stride, 1, dpi, threshold)
	return out
}

// eraseRules erases rules along one direction: along and across are the steps
// between pixels.
func eraseRules(in, out *image.Gray, length, width, along, across, dpi int, threshold uint8) {
	gap, thick, shortest := dpi/45, max(2, dpi/60), dpi*4/5
	if dpi < 150 {
		gap, shortest = 0, dpi*3/2 // the gaps of dotted rules are those between letters
	}
	dark := func(i, j int) bool { return in.Pix[i*along+j*across] <= threshold }
	for j := range width {
		start, last := -1, -1
		for i := 0; i <= length; i++ {
			if i < length && dark(i, j) {
				if start < 0 {
					start = i
				}
				last = i
				continue
			}
			if start < 0 || i < length && i-last <= gap {
				continue
			}
			if last-start >= shortest {
				eraseRun(out, dark, start, last, j, width, thick, along, across)
			}
			start = -1
		}
	}
}

// eraseRun whitens the pixels of a run that are not part of something thick, such
// as a letter that touches the rule.
func eraseRun(out *image.Gray, dark func(i, j int) bool, start, last, j, width, thick, along, across int) {
	for i := start; i <= last; i++ {
		extent := 1
		for k := j - 1; k >= 0 && extent <= thick+1 && dark(i, k); k-- {
			extent++
		}
		for k := j + 1; k < width && extent <= thick+1 && dark(i, k); k++ {
			extent++
		}
		if extent > thick+1 {
			continue
		}
		for k := max(0, j-1); k <= min(width-1, j+1); k++ {
			out.Pix[i*along+k*across] = 255
		}
	}
}
