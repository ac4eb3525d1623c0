package reader_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/reports"
	"hale/internal/labs/reports/extract"
	"hale/internal/labs/reports/pages"
	"hale/internal/labs/reports/reader"
	"hale/internal/platform/fault"
)

// hostileFile is a file from an attacker and its correct answer.
type hostileFile struct {
	name     string
	files    []reports.File
	declared string
	want     string // a status of the upload, a failure reason, or completed
}

// everyHostileFile reads the slow files too: make hostile.
var everyHostileFile = flag.Bool("hostile", false, "read the slow hostile files, too")

// slowFiles are files that take more than a second.
const slowFiles = `
	a PNG with an archive behind it, a JPEG with a page in it, a JPEG with a PDF file behind it, a JPEG whose data are noise,
	a black PNG of 56 million pixels, a PNG of one line, a PNG of one pixel, a PNG whose data are a bomb,
	a PDF whose form draws itself, a PDF whose content is a bomb, a PDF with a hundred thousand words,
	a PDF with an image of 60,000 times 60,000 pixels, a PDF whose page is a thousand kilometers wide, a PDF of blank paper`

// Each hostile file has the expected answer, and the child that reads it stays within its
// limits.
func TestHostileFiles(t *testing.T) {
	all := slices.Concat(hostileUploads(t), hostileImages(t), hostilePDFs())
	if len(all) < 60 {
		t.Errorf("only %d files", len(all))
	}
	if !*everyHostileFile {
		all = slices.DeleteFunc(all, func(h hostileFile) bool { return strings.Contains(slowFiles, h.name) })
	}
	p := realPool(t)
	limits := reports.DefaultLimits()
	for _, h := range all {
		t.Run(h.name, func(t *testing.T) {
			began := time.Now()
			if got := answerOf(t, p, limits, h); !slices.Contains(strings.Fields(h.want), got) {
				t.Errorf("the answer is %s, not %s", got, h.want)
			}
			if took := time.Since(began); took > 70*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	if r, err := p.Read(t.Context(), []reports.File{{Type: reports.PDF, Data: reportPDF(nil)}}); err != nil || len(r.Rows) == 0 {
		t.Errorf("after all of them a report is not read: %v", err)
	}
}

// realPool returns a pool of children with the real engine.
func realPool(t *testing.T) *reader.Pool {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir() // compiling takes seconds
	if err != nil {
		cache = t.TempDir()
	}
	p := &reader.Pool{
		Command: []string{program, realChildWord}, Dir: filepath.Join(t.TempDir(), "readers"), Size: 1, Idle: time.Minute,
		Timeout: time.Minute, ImageTimeout: time.Minute,
		Config: reader.Config{Memory: 1536 << 20, Seconds: 600, Pages: pages.Config{CacheDir: filepath.Join(cache, "hale-test-wazero")}},
	}
	t.Cleanup(p.Close)
	return p
}

// answerOf uploads files and reads them.
func answerOf(t *testing.T, p *reader.Pool, limits reports.Limits, h hostileFile) string {
	t.Helper()
	declared := make([]string, len(h.files))
	for i := range declared {
		declared[i] = h.declared
	}
	files := slices.Clone(h.files)
	switch err := limits.Check(files, declared); fault.KindOf(err) {
	case fault.Invalid:
		return "422"
	case fault.Refused:
		return "400"
	case fault.TooLarge:
		return "413"
	default:
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := p.Read(t.Context(), files)
	var failure *extract.Failure
	switch {
	case err == nil:
		return "completed"
	case errors.As(err, &failure):
		if failure.Detail == "" {
			t.Error("the failure has no reason in words")
		}
		if strings.Contains(failure.Detail, "tesseract") {
			t.Skip("no tesseract here")
		}
		return string(failure.Reason)
	case errors.Is(err, reports.ErrReaderGone):
		return "processing_error"
	}
	t.Fatal(err)
	return ""
}

func oneFile(data string) []reports.File { return []reports.File{{Data: []byte(data)}} }

// hostileUploads returns files that are refused before they are stored.
func hostileUploads(t *testing.T) []hostileFile {
	picture := pngOf(t, 40, 40)
	photo := jpegOf(t, 40, 40)
	document := string(reportPDF(nil))
	var all []hostileFile
	for name, data := range map[string]string{
		"an empty file": "", "text": "Glucose 91 mg/dL", "a GIF": "GIF89a\x01\x00\x01\x00", "a bitmap": "BM\x00\x00\x00\x00", "a TIFF": "II*\x00\x08\x00\x00\x00",
		"a WebP": "RIFF\x00\x00\x00\x00WEBPVP8 ", "a HEIC": "\x00\x00\x00\x18ftypheic", "an archive": "PK\x03\x04", "a program": "MZ\x90\x00", "a page": "<!DOCTYPE html><script>",
		"a drawing": `<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>`, "compressed bytes": "\x1f\x8b\x08\x00", "an ELF program": "\x7fELF\x02\x01",
		"a PDF header too late": strings.Repeat(" ", 2000) + "%PDF-1.4",
		"a PNG signature alone": "\x89PNG\r\n\x1a\n", "a JPEG marker alone": "\xff\xd8\xff", "a JPEG without a frame": photo[:20],
		"a PNG of no width": pngHeader(0, 100), "a PNG of 60,000 times 60,000 pixels": pngHeader(60000, 60000), "a PNG of negative size": pngHeader(1<<31, 5),
		"a PNG with a wrong checksum": strings.Replace(picture, "IHDR", "IHDX", 1), "a JPEG of 65,535 times 65,535 pixels": jpegWithSize(photo, 65535, 65535),
	} {
		all = append(all, hostileFile{name, oneFile(data), "", "400"})
	}
	slices.SortFunc(all, func(a, b hostileFile) int { return strings.Compare(a.name, b.name) })
	many := func(n int, data string) (files []reports.File) {
		for range n {
			files = append(files, oneFile(data)...)
		}
		return files
	}
	return append(all,
		hostileFile{"a PNG declared as a JPEG", oneFile(picture), "image/jpeg", "400"},
		hostileFile{"a JPEG declared as a PDF", oneFile(photo), "application/pdf", "400"},
		hostileFile{"a PDF declared as a PNG", oneFile(document), "image/png", "400"},
		hostileFile{"a PDF declared as a page", oneFile(document), "text/html", "400"},
		hostileFile{"a declaration that is none", oneFile(document), "application/pdf;;;=\"", "400"},
		hostileFile{"nine images", many(9, picture), "", "400"},
		hostileFile{"two PDF files", many(2, document), "", "400"},
		hostileFile{"a PDF file and an image", append(oneFile(document), oneFile(picture)...), "", "400"},
		hostileFile{"ten megabytes and one byte", oneFile(document + strings.Repeat(" ", 10_000_001-len(document))), "", "413"},
		hostileFile{"two images of six megabytes", many(2, picture+strings.Repeat("\x00", 6_000_000)), "", "413"},
		hostileFile{"no file", nil, "", "422"},
	)
}

// hostileImages returns images that pass the first checks.
func hostileImages(t *testing.T) []hostileFile {
	picture, photo := pngOf(t, 300, 300), jpegOf(t, 300, 300)
	const none = "invalid_input low_quality"
	return []hostileFile{
		{"a PNG cut in the middle", oneFile(picture[:len(picture)/2]), "", none},
		{"a JPEG cut in the middle", oneFile(photo[:len(photo)/2]), "", none},
		{"a PNG whose data are a bomb", oneFile(pngBomb(100, 100, 300<<20)), "", none},
		{"a black PNG of 56 million pixels", oneFile(pngBomb(8000, 7000, 7000*(8000+1))), "", none},
		{"a PNG of one pixel", oneFile(pngOf(t, 1, 1)), "", none},
		{"a PNG of one line", oneFile(pngOf(t, 50000, 1)), "", none},
		{"a PNG with an archive behind it", oneFile(picture + "PK\x03\x04 more"), "", none},
		{"a JPEG with a page in it", oneFile(photo + "<script>x()</script>"), "", none},
		{"a JPEG with a PDF file behind it", oneFile(photo + string(reportPDF(nil))), "", none},
		{"a JPEG whose data are noise", oneFile(photo[:len(photo)/3] + strings.Repeat("\xaa\x55", 5000)), "", none},
	}
}

// hostilePDFs returns PDF files that pass the first checks.
func hostilePDFs() []hostileFile {
	page := func(content string) []string {
		return []string{
			"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> >>",
			content, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		}
	}
	with := func(objects []string, more ...string) []byte { return pdfOf(append(objects, more...), "") }
	bomb := func(size int) string {
		return stream("/Filter /FlateDecode", deflate(bytes.Repeat([]byte("0 0 m "), size/6)))
	}
	document := string(reportPDF(nil))
	return []hostileFile{
		{"a PDF header alone", oneFile("%PDF-1.4\n"), "", "invalid_input"},
		{"a PDF cut in the middle", oneFile(document[:len(document)/3]), "", "invalid_input"},
		{"a PDF without its table", oneFile(strings.ReplaceAll(document, "startxref", "startnone")), "", "completed invalid_input"},
		{"a PDF with a broken table", oneFile(strings.Replace(document, "0000000009", "0000999999", 1)), "", "completed invalid_input"},
		{"a PDF with JavaScript", oneFile(string(reportPDF([]string{"/OpenAction << /S /JavaScript /JS (app.alert\\(1\\); while\\(true\\);) >>"}))), "", "completed"},
		{"a PDF that starts a program", oneFile(string(reportPDF([]string{"/OpenAction << /S /Launch /F (/bin/sh) >>"}))), "", "completed"},
		{"a PDF that opens an address", oneFile(string(reportPDF([]string{"/OpenAction << /S /URI /URI (http://x.invalid) >>"}))), "", "completed"},
		{"a PDF with a password", oneFile(string(encryptedPDF())), "", "invalid_input"},
		{"a PDF of 31 pages", oneFile(string(pagesPDF(31))), "", "too_many_pages"},
		{"a PDF of 10,000 pages", oneFile(string(pagesPDF(10_000))), "", "too_many_pages"},
		{"a PDF that says it has a billion pages", oneFile(string(pdfOf([]string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 1000000000 >>"}, ""))), "", "too_many_pages invalid_input"},
		{"a PDF without pages", oneFile(string(pdfOf([]string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>"}, ""))), "", "invalid_input"},
		{"a PDF whose pages contain themselves", oneFile(string(pdfOf([]string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] /Count 1 >>"}, ""))), "", "invalid_input"},
		{"a PDF whose catalogue is itself", oneFile(string(pdfOf([]string{"1 0 R"}, ""))), "", "invalid_input"},
		{"a PDF whose table repeats itself", oneFile(strings.Replace(document, "/Root", "/Prev 9 /Root", 1)), "", "completed invalid_input"},
		{"a PDF whose content is a bomb", oneFile(string(with(page(bomb(400 << 20))))), "", "invalid_input processing_error"},
		{"a PDF with filters in filters", oneFile(string(with(page(stream("/Filter ["+strings.Repeat("/FlateDecode ", 200)+"]", deflate([]byte("x"))))))), "", "invalid_input"},
		{"a PDF whose form draws itself", oneFile(string(with(page(stream("", []byte("/X Do"))), stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>", []byte("/X Do /X Do"))))), "", "invalid_input"},
		{"a PDF with an image of 60,000 times 60,000 pixels", oneFile(string(with(page(stream("", []byte("612 0 0 792 0 0 cm /X Do"))),
			stream("/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /BitsPerComponent 1 /ColorSpace /DeviceGray /Filter /FlateDecode", deflate(make([]byte, 1000)))))), "", "invalid_input low_quality processing_error"},
		{"a PDF whose page is a thousand kilometers wide", oneFile(strings.Replace(document, "[0 0 612 792]", "[0 0 3000000000 3000000000]", 1)), "", "completed invalid_input"},
		{"a PDF whose page has no size", oneFile(strings.Replace(document, "[0 0 612 792]", "[0 0 0 0]", 1)), "", "completed invalid_input"},
		{"a PDF with a hundred thousand nested lists", oneFile(string(pdfOf([]string{"<< /Type /Catalog /Pages 2 0 R /X " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + " >>", "<< /Type /Pages /Kids [] /Count 0 >>"}, ""))), "", "invalid_input"},
		{"a PDF with a hundred thousand words", oneFile(string(with(page(stream("", bytes.Repeat([]byte("BT /F1 1 Tf 5 5 Td (x) Tj ET "), 100_000)))))), "", "invalid_input"},
		{"a PDF with an attached archive", oneFile(string(reportPDF([]string{"/Names << /EmbeddedFiles << /Names [(x.zip) << /Type /Filespec /F (x.zip) >>] >> >>"}))), "", "completed"},
		{"a PDF behind a kilobyte of another file", oneFile("GIF89a" + strings.Repeat("\x00", 900) + document), "", "completed invalid_input"},
		{"a PDF of random bytes", oneFile("%PDF-1.7\n" + noise(200_000) + "\n%%EOF"), "", "invalid_input"},
		{"a PDF with huge object numbers", oneFile(strings.ReplaceAll(document, "5 0 ", "4294967290 0 ")), "", "completed invalid_input"},
		{"a PDF of blank paper", oneFile(string(with(page(stream("", []byte("1 w")))))), "", "invalid_input low_quality"},
	}
}

// pdfOf returns a PDF file of objects, numbered from 1. The first is the catalogue.
func pdfOf(objects []string, trailer string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, table)
	return b.Bytes()
}

func stream(dictionary string, data []byte) string {
	return fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(data), dictionary, data)
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// reportContent draws a small report.
func reportContent() string {
	var b strings.Builder
	y := 740
	line := func(cells ...any) {
		for i := 0; i+1 < len(cells); i += 2 {
			fmt.Fprintf(&b, "BT /F1 10 Tf 1 0 0 1 %d %d Tm (%s) Tj ET\n", cells[i], y, cells[i+1])
		}
		y -= 18
	}
	line(50, "EXAMPLE LABORATORY")
	line(50, "Patient: Ada Byron", 300, "DOB: 12/10/1984")
	line(50, "Collected: 03/04/2026", 300, "Reported: 03/05/2026")
	line(50, "TEST", 220, "RESULT", 300, "FLAG", 350, "UNITS", 430, "REFERENCE RANGE")
	line(50, "Glucose", 220, "112", 300, "H", 350, "mg/dL", 430, "70-99")
	line(50, "Sodium", 220, "139", 350, "mmol/L", 430, "135-146")
	line(50, "Potassium", 220, "4.3", 350, "mmol/L", 430, "3.5-5.3")
	line(50, "Creatinine", 220, "0.88", 350, "mg/dL", 430, "0.50-1.05")
	line(50, "Calcium", 220, "9.4", 350, "mg/dL", 430, "8.6-10.4")
	return b.String()
}

// reportPDF returns a small report. catalogue has further entries of the catalogue.
func reportPDF(catalogue []string) []byte {
	return pdfOf([]string{
		"<< /Type /Catalog /Pages 2 0 R " + strings.Join(catalogue, " ") + " >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		stream("", []byte(reportContent())), "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}, "")
}

// pagesPDF returns a file of blank pages.
func pagesPDF(n int) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", ""}
	var kids strings.Builder
	for i := range n {
		fmt.Fprintf(&kids, "%d 0 R ", i+3)
		objects = append(objects, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>")
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), n)
	return pdfOf(objects, "")
}

// encryptedPDF returns a file with a password that is not empty.
func encryptedPDF() []byte {
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>",
		"<< /Filter /Standard /V 1 /R 2 /P -4 /O <" + strings.Repeat("1f", 32) + "> /U <" + strings.Repeat("2e", 32) + "> >>",
	}
	return pdfOf(objects, "/Encrypt 4 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]")
}

func pngOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, stripes(width, height)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jpegOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, stripes(width, height), nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func stripes(width, height int) image.Image {
	m := image.NewGray(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = color.Gray{Y: uint8(i * 7)}.Y
	}
	return m
}

// jpegWithSize changes the size in the header of a JPEG.
func jpegWithSize(photo string, width, height uint16) string {
	data := []byte(photo)
	at := bytes.Index(data, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(data[at+5:], height)
	binary.BigEndian.PutUint16(data[at+7:], width)
	return string(data)
}

func pngChunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// pngHeader returns a gray PNG of a size without its data.
func pngHeader(width, height uint32) string {
	head := binary.BigEndian.AppendUint32(nil, width)
	head = binary.BigEndian.AppendUint32(head, height)
	head = append(head, 8, 0, 0, 0, 0)
	return "\x89PNG\r\n\x1a\n" + string(pngChunk("IHDR", head))
}

// pngBomb returns a PNG whose data inflate to a number of zeros.
func pngBomb(width, height uint32, size int) string {
	return pngHeader(width, height) + string(pngChunk("IDAT", deflate(make([]byte, size)))) + string(pngChunk("IEND", nil))
}

// noise returns bytes that are the same each time.
func noise(n int) string {
	data := make([]byte, n)
	x := uint32(1)
	for i := range data {
		x = x*1664525 + 1013904223
		data[i] = byte(x >> 24)
	}
	return string(data)
}
