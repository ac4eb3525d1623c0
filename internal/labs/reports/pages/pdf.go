package pages

import (
	"context"
	"errors"
	"image"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"hale/internal/labs/reports/extract"
)

// wasmPages limits the memory of the WebAssembly module to 512 MB.
const wasmPages = 512 << 20 >> 16

// compileTime limits the compilation of PDFium. It takes seconds on a server, and more
// than a minute on a small or busy machine. The cache directory keeps the result.
const compileTime = 10 * time.Minute

// renderer holds PDFium, compiled to WebAssembly. A hostile file cannot leave the
// module's memory: the module has no files, network or clock of ours.
type renderer struct {
	pool     pdfium.Pool
	instance pdfium.Pdfium
	cache    wazero.CompilationCache
	closed   bool
}

func newRenderer(ctx context.Context, cacheDir string) (*renderer, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(wasmPages)
	r := &renderer{}
	if cacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
		if err != nil {
			return nil, err
		}
		r.cache = cache
		config = config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context: ctx, MinIdle: 0, MaxIdle: 1, MaxTotal: 1,
		FSConfig: wazero.NewFSConfig(), RuntimeConfig: config, Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.pool = pool
	r.instance, err = pool.GetInstance(compileTime)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *renderer) close() error {
	r.closed = true
	var errs []error
	if r.instance != nil {
		errs = append(errs, r.instance.Close())
	}
	if r.pool != nil {
		errs = append(errs, r.pool.Close())
	}
	if r.cache != nil {
		errs = append(errs, r.cache.Close(context.Background()))
	}
	return errors.Join(errs...)
}

// pdf is an open document.
type pdf struct {
	*renderer
	document references.FPDF_DOCUMENT
	pages    int
}

// open opens a PDF. The error is an *extract.Failure.
func (r *renderer) open(data []byte) (*pdf, error) {
	document, err := r.instance.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword):
		return nil, &extract.Failure{Reason: extract.InvalidInput, Detail: "the PDF is encrypted and needs a password"}
	case errors.Is(err, pdfiumerrors.ErrSecurity):
		return nil, &extract.Failure{Reason: extract.InvalidInput, Detail: "the PDF is encrypted in an unknown way"}
	case err != nil:
		return nil, &extract.Failure{Reason: extract.InvalidInput, Detail: "the PDF is damaged and cannot be opened"}
	}
	p := &pdf{renderer: r, document: document.Document}
	count, err := r.instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: document.Document})
	if err != nil || count.PageCount == 0 {
		p.close()
		return nil, &extract.Failure{Reason: extract.InvalidInput, Detail: "the PDF has no pages"}
	}
	p.pages = count.PageCount
	return p, nil
}

func (p *pdf) close() {
	if p.closed {
		return
	}
	_, _ = p.instance.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: p.document})
}

// deviceScale is the precision of coordinates: hundredths of a point, because
// FPDF_PageToDevice returns whole numbers.
const deviceScale = 100

// words returns the words that one page shows, in points from its upper left corner.
func (p *pdf) words(index, maxPixels int) (extract.Page, error) {
	out := extract.Page{Number: index + 1, Source: extract.FromText}
	loaded, err := p.instance.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: p.document, Index: index})
	if err != nil {
		return out, err
	}
	page := requests.Page{ByReference: &loaded.Page}
	defer func() { _, _ = p.instance.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}) }()
	width, err := p.instance.FPDF_GetPageWidthF(&requests.FPDF_GetPageWidthF{Page: page})
	if err != nil {
		return out, err
	}
	height, err := p.instance.FPDF_GetPageHeightF(&requests.FPDF_GetPageHeightF{Page: page})
	if err != nil {
		return out, err
	}
	out.Width, out.Height = float64(width.PageWidth), float64(height.PageHeight)
	text, err := p.instance.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return out, err
	}
	defer func() { _, _ = p.instance.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	glyphs, err := p.glyphs(text.TextPage)
	if err != nil {
		return out, err
	}
	device := func(x, y float64) (float64, float64, error) {
		d, err := p.instance.FPDF_PageToDevice(&requests.FPDF_PageToDevice{
			Page: page, SizeX: int(out.Width * deviceScale), SizeY: int(out.Height * deviceScale), PageX: x, PageY: y,
		})
		if err != nil {
			return 0, 0, err
		}
		return float64(d.DeviceX) / deviceScale, float64(d.DeviceY) / deviceScale, nil
	}
	for _, w := range joinGlyphs(glyphs) {
		x0, y0, err := device(w.left, w.top)
		if err != nil {
			return out, err
		}
		x1, y1, err := device(w.right, w.bottom)
		if err != nil {
			return out, err
		}
		box := extract.Box{X: min(x0, x1), Y: min(y0, y1), Width: math.Abs(x1 - x0), Height: math.Abs(y1 - y0)}
		if box.X+box.Width < 0 || box.Y+box.Height < 0 || box.X > out.Width || box.Y > out.Height {
			continue // outside the page: invisible
		}
		out.Words = append(out.Words, extract.Word{Text: w.text, Box: box, Confidence: 1, Bold: w.bold})
	}
	if len(out.Words) == 0 {
		return out, nil
	}
	lines, err := p.lines(page, device)
	if err != nil {
		return out, err
	}
	picture, err := p.image(index, checkDPI, maxPixels)
	if err != nil {
		return out, err
	}
	dropStruck(&out, lines)
	dropUnseen(&out, picture)
	return out, nil
}

// glyph is a character in page space, where top is greater than bottom.
type glyph struct {
	r                        rune
	left, right, top, bottom float64
	baseline                 float64
	font                     float64 // the font's size before scaling
	bold                     bool
}

// maxGlyphs stops pages that are all text, such as a dictionary: a page of a
// report has a few thousand characters.
const maxGlyphs = 60_000

func (p *pdf) glyphs(text references.FPDF_TEXTPAGE) ([]glyph, error) {
	count, err := p.instance.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text})
	if err != nil {
		return nil, err
	}
	glyphs := make([]glyph, 0, count.Count)
	bold, wordStart := false, true
	for i := range min(count.Count, maxGlyphs) {
		char, err := p.instance.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: text, Index: i})
		if err != nil {
			return nil, err
		}
		g := glyph{r: rune(char.Unicode)}
		if g.r == 2 { // PDFium's mark of a hyphen at the end of a line
			g.r = '-'
		}
		if unicode.IsSpace(g.r) || g.r == 0 {
			glyphs = append(glyphs, glyph{r: ' '})
			wordStart = true
			continue
		}
		box, err := p.instance.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: text, Index: i})
		if err != nil {
			return nil, err
		}
		g.left, g.right = float64(box.Rect.Left), float64(box.Rect.Right)
		g.top, g.bottom = float64(box.Rect.Top), float64(box.Rect.Bottom)
		origin, err := p.instance.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: text, Index: i})
		if err != nil {
			return nil, err
		}
		g.baseline = origin.Y
		size, err := p.instance.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: text, Index: i})
		if err != nil {
			return nil, err
		}
		g.font = size.FontSize
		if wordStart {
			weight, err := p.instance.FPDFText_GetFontWeight(&requests.FPDFText_GetFontWeight{TextPage: text, Index: i})
			bold = err == nil && weight.FontWeight >= 600
			wordStart = false
		}
		g.bold = bold
		glyphs = append(glyphs, g)
	}
	p.evenHeights(text, glyphs)
	return glyphs, nil
}

// evenHeights gives all characters of one font size the same height around the
// baseline. Fonts without an ascent have boxes as high as each character.
func (p *pdf) evenHeights(text references.FPDF_TEXTPAGE, glyphs []glyph) {
	heights := map[float64][]float64{}
	first := map[float64]int{}
	for i, g := range glyphs {
		if g.r == ' ' {
			continue
		}
		if heights[g.font] == nil {
			first[g.font] = i
		}
		heights[g.font] = append(heights[g.font], g.top-g.bottom)
	}
	usual := map[float64]float64{}
	for font, list := range heights {
		slices.Sort(list)
		observed := max(list[len(list)*19/20], 1.0)
		usual[font] = observed
		m, err := p.instance.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: text, Index: first[font]})
		if err != nil {
			continue
		}
		size := font * math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D)) * 1.12
		if size > 0.7*observed && size < 2*observed {
			usual[font] = size
		}
	}
	for i := range glyphs {
		g := &glyphs[i]
		if h := usual[g.font]; g.r != ' ' && h < 4*(g.top-g.bottom)+40 {
			g.top, g.bottom = g.baseline+0.78*h, g.baseline-0.22*h
		}
	}
}

type glyphWord struct {
	text                     string
	left, right, top, bottom float64
	bold                     bool
}

// joinGlyphs joins characters to words. A word ends at a space, at a jump of the
// baseline, at a gap, and where the text runs backwards.
func joinGlyphs(glyphs []glyph) []glyphWord {
	var words []glyphWord
	var b strings.Builder
	var w glyphWord
	var last glyph
	flush := func() {
		if b.Len() > 0 {
			w.text = b.String()
			words = append(words, w)
		}
		b.Reset()
	}
	spaced := false
	for _, g := range glyphs {
		if g.r == ' ' {
			spaced = true
			continue
		}
		size := g.top - g.bottom
		if b.Len() > 0 {
			previous := last.top - last.bottom
			gap := g.left - last.right
			switch {
			case math.Abs(g.baseline-last.baseline) > 0.12*min(size, previous), // another line, or raised
				math.Abs(size-previous) > 0.2*max(size, previous),
				gap > 0.25*size, g.left < last.left-0.5*size,
				spaced && gap > 0.07*size: // PDFium puts blanks between glyphs that are drawn one by one
				flush()
			}
		}
		spaced = false
		if b.Len() == 0 {
			w = glyphWord{left: g.left, right: g.right, top: g.top, bottom: g.bottom, bold: g.bold}
		}
		b.WriteRune(g.r)
		w.left, w.right = min(w.left, g.left), max(w.right, g.right)
		w.top, w.bottom = max(w.top, g.top), min(w.bottom, g.bottom)
		last = g
	}
	flush()
	return words
}

// image renders one page in gray.
func (p *pdf) image(index, dpi, maxPixels int) (*image.Gray, error) {
	size, err := p.instance.FPDF_GetPageSizeByIndexF(&requests.FPDF_GetPageSizeByIndexF{Document: p.document, Index: index})
	if err != nil {
		return nil, err
	}
	width, height := float64(size.Size.Width), float64(size.Size.Height)
	if width <= 0 || height <= 0 {
		return nil, &extract.Failure{Reason: extract.InvalidInput, Detail: "a page of the PDF has no size"}
	}
	if pixels := width * height * float64(dpi*dpi) / (72 * 72); pixels > float64(maxPixels) {
		dpi = int(float64(dpi) * math.Sqrt(float64(maxPixels)/pixels))
	}
	if dpi < 1 {
		return nil, &extract.Failure{Reason: extract.InvalidInput, Detail: "a page of the PDF is too large"}
	}
	rendered, err := p.instance.RenderPageInDPI(&requests.RenderPageInDPI{
		Page: requests.Page{ByIndex: &requests.PageByIndex{Document: p.document, Index: index}}, DPI: dpi,
		RenderFlags: enums.FPDF_RENDER_FLAG_GRAYSCALE | enums.FPDF_RENDER_FLAG_ANNOT, ImageFormat: requests.RenderImageFormatGrayscale,
	})
	if err != nil {
		return nil, err
	}
	defer rendered.Cleanup()
	gray, ok := rendered.Result.RenderedImage.(*image.Gray)
	if !ok {
		return nil, errors.New("the page was not rendered in gray")
	}
	out := image.NewGray(image.Rect(0, 0, gray.Rect.Dx(), gray.Rect.Dy()))
	for y := range out.Rect.Dy() {
		copy(out.Pix[y*out.Stride:], gray.Pix[y*gray.Stride:y*gray.Stride+out.Rect.Dx()])
	}
	return out, nil
}
