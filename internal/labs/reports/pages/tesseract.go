package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"hale/internal/labs/reports/extract"
)

// Tesseract's page segmentation modes. Measured on tables of results, the others
// lose columns or rows.
const (
	oneColumn  = "4"  // text of varying sizes in one column
	sparseText = "11" // scattered words
)

// tesseract recognises the words of an image. Boxes are in pixels of the image.
func (r *Reader) tesseract(ctx context.Context, gray *image.Gray, mode string, dpi int, options ...string) ([]extract.Word, error) {
	program, err := exec.LookPath(r.config.Tesseract)
	if err != nil {
		return nil, &extract.Failure{Reason: extract.ProcessingError, Detail: ErrNoTesseract.Error()}
	}
	cmd := exec.CommandContext(ctx, program, "stdin", "stdout", "--psm", mode, "--dpi", strconv.Itoa(dpi), "-l", "eng",
		"-c", "tessedit_create_tsv=1", "-c", "tessedit_create_txt=0")
	cmd.Args = append(cmd.Args, options...)
	// More threads cost more time, measured: 3.6 instead of 1.4 CPU-seconds a page.
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	cmd.Stdin = bytes.NewReader(pgm(gray))
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) && strings.Contains(complaints.String(), "eng.traineddata") {
			return nil, &extract.Failure{Reason: extract.ProcessingError, Detail: "tesseract has no English model: install the package tesseract-ocr-eng (Debian: sudo apt-get install tesseract-ocr-eng)"}
		}
		return nil, fmt.Errorf("run tesseract: %w", err) // its output may hold text of the report
	}
	return parseTSV(out.String()), nil
}

// pgm writes an image in the plainest format that tesseract reads.
func pgm(gray *image.Gray) []byte {
	w, h := gray.Rect.Dx(), gray.Rect.Dy()
	var b bytes.Buffer
	b.Grow(w*h + 32)
	fmt.Fprintf(&b, "P5\n%d %d\n255\n", w, h)
	for y := range h {
		b.Write(gray.Pix[y*gray.Stride : y*gray.Stride+w])
	}
	return b.Bytes()
}

// parseTSV reads tesseract's table: level, page, block, paragraph, line, word,
// left, top, width, height, confidence, text.
func parseTSV(text string) []extract.Word {
	var words []extract.Word
	for row := range strings.SplitSeq(text, "\n") {
		fields := strings.SplitN(row, "\t", 12)
		if len(fields) != 12 || fields[0] != "5" {
			continue
		}
		var n [4]float64
		ok := true
		for i := range n {
			v, err := strconv.ParseFloat(fields[6+i], 64)
			n[i], ok = v, ok && err == nil
		}
		confidence, err := strconv.ParseFloat(fields[10], 64)
		content := strings.TrimSpace(fields[11])
		if !ok || err != nil || content == "" {
			continue
		}
		words = append(words, extract.Word{Text: content, Box: extract.Box{X: n[0], Y: n[1], Width: n[2], Height: n[3]}, Confidence: min(1, max(0, confidence/100))})
	}
	return words
}
