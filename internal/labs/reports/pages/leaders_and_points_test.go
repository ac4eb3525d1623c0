package pages

import (
	"image"
	"testing"
)

// paper returns a white page with black rectangles.
func paper(w, h int, black ...image.Rectangle) *image.Gray {
	page := image.NewGray(image.Rect(0, 0, w, h))
	whiten(page, page.Rect)
	for _, box := range black {
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				page.Pix[y*page.Stride+x] = 0
			}
		}
	}
	return page
}

func isBlack(page *image.Gray, x, y int) bool { return page.GrayAt(x, y).Y == 0 }

// removeLeaders removes a leader of dots, and keeps the decimal point behind it.
func TestRemoveLeaders(t *testing.T) {
	var marks []image.Rectangle
	for i := range 9 {
		x := 40 + 15*i
		marks = append(marks, image.Rect(x, 50, x+4, 54))
	}
	marks = append(marks, image.Rect(200, 30, 212, 54), image.Rect(216, 50, 220, 54), image.Rect(224, 30, 236, 54)) // 4.5
	for i := range 3 {
		x := 40 + 15*i
		marks = append(marks, image.Rect(x, 90, x+4, 94)) // an ellipsis
	}
	page := paper(300, 120, marks...)
	removeLeaders(page, 250)
	for i := range 9 {
		if isBlack(page, 41+15*i, 51) {
			t.Errorf("dot %d is there", i)
		}
	}
	if !isBlack(page, 217, 51) || !isBlack(page, 205, 40) || !isBlack(page, 41, 91) {
		t.Error("a decimal point, a digit or an ellipsis is gone")
	}
}

// A coarse image has dashes in place of a dotted rule. They are removed. A minus sign
// stays.
func TestRemoveDashes(t *testing.T) {
	page := paper(200, 40, image.Rect(10, 30, 35, 32), image.Rect(41, 30, 66, 31), image.Rect(100, 10, 105, 12))
	removeDashes(page, 100)
	if isBlack(page, 20, 30) || isBlack(page, 50, 30) || !isBlack(page, 102, 10) {
		t.Error("a dash is there, or a minus sign gone")
	}
}

// A decimal point of one pixel grows. Speckle does not.
func TestEnlargePoints(t *testing.T) {
	page := paper(100, 60, image.Rect(20, 20, 25, 29), image.Rect(27, 28, 28, 29), image.Rect(30, 20, 35, 29), // 1.1
		image.Rect(60, 28, 61, 29), image.Rect(70, 20, 75, 29), image.Rect(77, 15, 78, 16), image.Rect(80, 20, 85, 29))
	enlargePoints(page)
	if !isBlack(page, 27, 27) || !isBlack(page, 28, 28) {
		t.Error("the decimal point is as small as before")
	}
	if isBlack(page, 61, 28) || isBlack(page, 60, 27) || isBlack(page, 78, 15) || isBlack(page, 77, 14) {
		t.Error("speckle grew")
	}
}

// On a page that is dark all over, neither the page nor a part of it is a spot.
func TestDarkPageHasNoSpots(t *testing.T) {
	page := paper(3000, 2000, image.Rect(0, 0, 3000, 2000))
	page.Pix[0] = 255
	if spots := findSpots(page, 3000, 5); len(spots) != 0 {
		t.Errorf("%d spots", len(spots))
	}
	letter := paper(60, 60, image.Rect(10, 10, 14, 40), image.Rect(10, 36, 40, 40), image.Rect(50, 50, 52, 52))
	if spots := findSpots(letter, 6, 6); len(spots) != 1 || spots[0].pixels != 4 {
		t.Errorf("a letter and a dot have the spots %v", spots)
	}
}
