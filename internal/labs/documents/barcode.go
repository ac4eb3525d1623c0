package documents

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode"
	"github.com/boombuler/barcode/code128"
	"github.com/boombuler/barcode/datamatrix"
	"github.com/boombuler/barcode/pdf417"
)

// Bar codes are drawn as rectangles: sharp at any size, with a tenth of the bytes
// of an image.

// Bounds of the narrowest bar, in points. Laser printers and hand scanners handle
// 0.54 points (7.5 mil).
const (
	minBar = 0.54
	maxBar = 1.1
)

// drawCode128 draws a text as Code 128 in the middle of a box, with quiet
// zones on both sides. A text that is too long becomes a Data Matrix. drawn is
// false when neither can encode the text.
func (s *pdfDocument) drawCode128(content string, x, y, width, height float64) (drawn bool) {
	if !isPlainASCII(content) || content == "" {
		return false
	}
	code, err := code128.Encode(content)
	if err != nil {
		return s.drawDataMatrix(content, x, y, width, height)
	}
	const quiet = 10
	modules := code.Bounds().Dx()
	bar := min(width/float64(modules+2*quiet), maxBar)
	if bar < minBar {
		return s.drawDataMatrix(content, x, y, width, height)
	}
	s.drawModules(code, x+(width-bar*float64(modules))/2, y, bar, height)
	return true
}

// drawDataMatrix draws a text as Data Matrix into a box.
func (s *pdfDocument) drawDataMatrix(content string, x, y, width, height float64) bool {
	code, err := datamatrix.Encode(content)
	if err != nil {
		return false
	}
	size := code.Bounds().Size()
	dot := min(width/float64(size.X+2), height/float64(size.Y+2))
	s.drawModules(code, x+(width-dot*float64(size.X))/2, y+dot, dot, dot)
	return true
}

// drawPDF417 draws a text as PDF417 and returns its height. Modules are three
// times as high as wide, as the standard asks.
func (s *pdfDocument) drawPDF417(content string, x, y, width float64) (height float64, err error) {
	code, err := pdf417.Encode(content, 4)
	if err != nil {
		return 0, fmt.Errorf("documents: a bar code: %w", err)
	}
	size := code.Bounds().Size()
	bar := min(width/float64(size.X), 0.9)
	s.drawModules(code, x, y, bar, bar*1.5) // the encoder gives two lines for each row
	return bar * 1.5 * float64(size.Y), nil
}

// drawModules draws a code's dark modules, each w by h points. Neighbours in a
// line are one rectangle, and equal lines too. The modules of a code of one
// line have the height of the code.
func (s *pdfDocument) drawModules(code barcode.Barcode, x, y, w, h float64) {
	size := code.Bounds().Size()
	s.pdf.SetFillColor(0, 0, 0)
	for top := 0; top < size.Y; {
		line := modules(code, top)
		end := top + 1
		for end < size.Y && modules(code, end) == line {
			end++
		}
		for left := 0; left < len(line); {
			if line[left] != darkModule {
				left++
				continue
			}
			length := len(line[left:]) - len(strings.TrimLeft(line[left:], string(darkModule)))
			s.pdf.Rect(x+float64(left)*w, y+float64(top)*h, float64(length)*w, float64(end-top)*h, "F")
			left += length
		}
		top = end
	}
}

const (
	darkModule  = '#'
	lightModule = '.'
)

// modules returns a line of a code, one letter for each module.
func modules(code barcode.Barcode, y int) string {
	line := make([]byte, code.Bounds().Dx())
	for x := range line {
		line[x] = lightModule
		if code.At(x, y) == color.Black {
			line[x] = darkModule
		}
	}
	return string(line)
}
