package pages

import (
	"image"
	"math"
	"slices"
	"strings"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/requests"

	"hale/internal/labs/reports/extract"
)

const (
	// checkDPI is the resolution of the image in which words are looked for.
	checkDPI = 100
	// faintestContrast is the difference of brightness, of 255, that the eye sees as text.
	faintestContrast = 20
	// maxPaths bounds the drawn lines that are compared with words.
	maxPaths = 5000
)

// dropUnseen drops words that a person who reads the page does not see: white, nearly
// transparent or covered ones. It compares them with the image of the page.
func dropUnseen(page *extract.Page, picture *image.Gray) {
	factor := float64(picture.Rect.Dx()) / page.Width
	page.Words = slices.DeleteFunc(page.Words, func(w extract.Word) bool { return !hasInk(picture, w.Box, factor) })
}

// hasInk reports whether an image has marks in a box.
func hasInk(picture *image.Gray, b extract.Box, factor float64) bool {
	area := image.Rect(int(b.X*factor), int(b.Y*factor), int(math.Ceil((b.X+b.Width)*factor)), int(math.Ceil((b.Y+b.Height)*factor))).Intersect(picture.Rect)
	darkest, brightest := uint8(255), uint8(0)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for _, v := range picture.Pix[y*picture.Stride+area.Min.X : y*picture.Stride+area.Max.X] {
			darkest, brightest = min(darkest, v), max(brightest, v)
		}
	}
	return int(brightest)-int(darkest) >= faintestContrast
}

// lines returns the boxes of thin level lines, in points from the upper left corner.
func (p *pdf) lines(page requests.Page, device func(x, y float64) (float64, float64, error)) ([]extract.Box, error) {
	count, err := p.instance.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return nil, err
	}
	var lines []extract.Box
	for i := range min(count.Count, maxPaths) {
		object, err := p.instance.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			return nil, err
		}
		kind, err := p.instance.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err != nil || kind.Type != enums.FPDF_PAGEOBJ_PATH {
			continue
		}
		bounds, err := p.instance.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: object.PageObject})
		if err != nil {
			continue // a path without points
		}
		x0, y0, err := device(float64(bounds.Left), float64(bounds.Top))
		if err != nil {
			return nil, err
		}
		x1, y1, err := device(float64(bounds.Right), float64(bounds.Bottom))
		if err != nil {
			return nil, err
		}
		line := extract.Box{X: min(x0, x1), Y: min(y0, y1), Width: math.Abs(x1 - x0), Height: math.Abs(y1 - y0)}
		if line.Height < 3 && line.Width > 3*line.Height {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// dropStruck drops words that a line strikes out, and remembers where they were.
func dropStruck(page *extract.Page, lines []extract.Box) {
	page.Words = slices.DeleteFunc(page.Words, func(w extract.Word) bool {
		struck := strings.ContainsAny(strings.ToLower(w.Text), "0123456789abcdefghijklmnopqrstuvwxyz") &&
			slices.ContainsFunc(lines, func(l extract.Box) bool { return strikes(l, w.Box) })
		if struck {
			page.Struck = append(page.Struck, w.Box)
		}
		return struck
	})
}

// strikes reports whether a line runs through the middle of a word. Lines of tables and
// under words are above or below the middle.
func strikes(line, word extract.Box) bool {
	middle := line.Y + line.Height/2 - word.Y
	return line.Height < 0.2*word.Height && middle > 0.38*word.Height && middle < 0.7*word.Height &&
		line.X < word.X+0.15*word.Height && line.X+line.Width > word.X+word.Width-0.15*word.Height
}
