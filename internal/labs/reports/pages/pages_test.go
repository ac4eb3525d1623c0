package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"

	"hale/internal/labs/reports/extract"
)

var table = [][5]string{
	{"Sodium", "141", "", "135-145", "mmol/L"},
	{"Potassium", "5.9", "H", "3.5-5.1", "mmol/L"},
	{"Chloride", "101", "", "98-110", "mmol/L"},
	{"Calcium", "9.4", "", "8.6-10.3", "mg/dL"},
	{"Albumin", "3.2", "L", "3.6-5.1", "g/dL"},
	{"Hemoglobin", "13.9", "", "13.2-17.1", "g/dL"},
}

// report returns a PDF with a table of results on each page.
func report(t testing.TB, pages int, password string, more ...func(pdf *fpdf.Fpdf)) []byte {
	t.Helper()
	pdf := fpdf.New("P", "pt", "A4", "")
	if password != "" {
		pdf.SetProtection(fpdf.CnProtectPrint, password, "owner")
	}
	for range pages {
		pdf.AddPage()
		pdf.SetFont("Helvetica", "B", 16)
		pdf.Text(40, 50, "Northwind Laboratory")
		pdf.SetFont("Helvetica", "", 11)
		pdf.Text(40, 75, "Patient: Mara Quillfeather")
		pdf.Text(260, 75, "DOB: 1980-03-04")
		pdf.Text(400, 75, "Sex: F")
		pdf.Text(40, 92, "Collected: 2024-05-06")
		pdf.Text(260, 92, "Reported: 2024-05-07")
		row := func(y float64, cells [5]string) {
			for i, x := range []float64{40, 200, 270, 320, 450} {
				pdf.Text(x, y, cells[i])
			}
		}
		row(130, [5]string{"Test", "Result", "Flag", "Reference range", "Units"})
		for i, cells := range table {
			row(150+18*float64(i), cells)
		}
		for _, draw := range more {
			draw(pdf)
		}
	}
	var b bytes.Buffer
	if err := pdf.Output(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func checkRows(t *testing.T, result extract.Result) {
	t.Helper()
	for _, want := range table {
		found := false
		for _, row := range result.Rows {
			if row.Name == want[0] {
				found = true
				if row.Value != want[1] || row.Flag != want[2] || row.Unit != want[4] || row.Range.Text != want[3] || row.Page != 1 {
					t.Errorf("%v is %+v", want, row)
				}
				if row.Box.X < 0.05 || row.Box.X > 0.1 || row.Box.Y < 0.15 || row.Box.Y > 0.35 || row.Box.Width < 0.6 {
					t.Errorf("%s is at %+v", row.Name, row.Box)
				}
			}
		}
		if !found {
			t.Errorf("%s is missing among %d rows", want[0], len(result.Rows))
		}
	}
	if m := result.Metadata; m.LastName != "Quillfeather" || m.BirthDate != "1980-03-04" || m.CollectedDate != "2024-05-06" {
		t.Errorf("metadata is %+v", m)
	}
}

// TestPages shares one reader, because the WebAssembly module takes seconds to
// compile. The result stays for the next run of the tests.
func TestPages(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	r := NewReader(Config{CacheDir: filepath.Join(cache, "hale-test-wazero"), MaxPages: 4, MaxPixels: 20_000_000})
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	one := File{"application/pdf", report(t, 1, "")}

	t.Run("text", func(t *testing.T) {
		result, err := r.Read(t.Context(), []File{one})
		if err != nil {
			t.Fatal(err)
		}
		checkRows(t, result)
		if len(result.Pages) != 1 || result.Pages[0].Source != extract.FromText || math.Abs(result.Pages[0].Width-595) > 1 {
			t.Errorf("pages are %+v", result.Pages)
		}
	})

	t.Run("text that no reader sees", func(t *testing.T) {
		data := report(t, 1, "", func(pdf *fpdf.Fpdf) {
			pdf.SetTextColor(255, 255, 255)
			pdf.Text(40, 268, "Magnesium")
			pdf.Text(200, 268, "9.9")
			pdf.Text(450, 268, "mg/dL")
			pdf.SetTextColor(0, 0, 0)
			pdf.Text(40, 286, "Glucose")
			pdf.Text(200, 286, "402  102")
			pdf.Text(320, 286, "70-99")
			pdf.Text(450, 286, "mg/dL")
			pdf.SetLineWidth(0.7)
			pdf.Line(200, 282.5, 200+pdf.GetStringWidth("402"), 282.5)
			pdf.Line(40, 289, 500, 289)
		})
		result, err := r.Read(t.Context(), []File{{"application/pdf", data}})
		if err != nil {
			t.Fatal(err)
		}
		checkRows(t, result)
		for _, row := range result.Rows {
			switch {
			case row.Name == "Magnesium":
				t.Errorf("white text is read: %+v", row)
			case row.Name == "Glucose" && (row.Value != "102" || !slices.Contains(row.Reasons, extract.StruckOut)):
				t.Errorf("the struck value: %+v", row)
			case row.Name != "Glucose" && row.NeedsReview:
				t.Errorf("%s needs review: %v", row.Name, row.Reasons)
			}
		}
	})

	t.Run("image of a page", func(t *testing.T) {
		data, err := r.Image(t.Context(), []File{one}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if head, format, err := image.DecodeConfig(bytes.NewReader(data)); err != nil || format != "jpeg" || head.Width < 800 {
			t.Errorf("%s %+v %v", format, head, err)
		}
		if _, err := r.Image(t.Context(), []File{one}, 2); err == nil {
			t.Error("page 2 of 1 has an image")
		}
	})

	t.Run("refusals", func(t *testing.T) {
		small := encodePNG(t, image.NewGray(image.Rect(0, 0, 20, 20)))
		broken := bytes.Clone(one.Data)[:len(one.Data)/3]
		for _, c := range []struct {
			name   string
			files  []File
			reason extract.FailureReason
			detail string
		}{
			{"no file", nil, extract.InvalidInput, "no file"},
			{"empty", []File{{"application/pdf", nil}}, extract.InvalidInput, "empty"},
			{"another type", []File{{"text/plain", []byte("hello")}}, extract.InvalidInput, "PDF, JPEG and PNG"},
			{"a PNG that says PDF", []File{{"application/pdf", small}}, extract.InvalidInput, "not what its type"},
			{"two PDFs", []File{one, one}, extract.InvalidInput, "only file"},
			{"password", []File{{"application/pdf", report(t, 1, "secret")}}, extract.InvalidInput, "password"},
			{"no PDF inside", []File{{"application/pdf", []byte("%PDF-1.7\nhello")}}, extract.InvalidInput, "damaged"},
			{"cut off", []File{{"application/pdf", broken}}, extract.InvalidInput, ""},
			{"pages", []File{{"application/pdf", report(t, 5, "")}}, extract.TooManyPages, "5 pages"},
			{"small image", []File{{"image/png", small}}, extract.InvalidInput, "too small"},
			{"pixels", []File{{"image/png", hugePNG()}}, extract.InvalidInput, "60000 × 60000"},
			{"broken JPEG", []File{{"image/jpeg", []byte("\xff\xd8\xff\xe0 no picture")}}, extract.InvalidInput, "damaged"},
		} {
			_, err := r.Read(t.Context(), c.files)
			var failure *extract.Failure
			if !errors.As(err, &failure) || failure.Reason != c.reason || !strings.Contains(failure.Detail, c.detail) {
				t.Errorf("%s: %v, want %s with %q", c.name, err, c.reason, c.detail)
			}
			if _, checked := r.Check(t.Context(), c.files); checked == nil && c.name != "cut off" {
				t.Errorf("%s passes Check", c.name)
			}
		}
	})

	t.Run("scan", func(t *testing.T) {
		if _, err := exec.LookPath("tesseract"); err != nil {
			t.Skip("tesseract is not installed: scans are not tested (Debian: sudo apt-get install tesseract-ocr)")
		}
		sheet, err := r.Render(t.Context(), one.Data, 1, 200)
		if err != nil {
			t.Fatal(err)
		}
		sheet = crop(sheet, 0.36) // the lower part is empty
		result, err := r.Read(t.Context(), []File{{"image/png", encodePNG(t, sheet)}})
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for _, want := range table {
			for _, row := range result.Rows {
				if row.Name == want[0] && row.Value == want[1] {
					right++
				}
			}
		}
		if right < len(table)-1 || result.Pages[0].Source != extract.FromOCR {
			t.Errorf("%d values of %d are right: %+v", right, len(table), result.Rows)
		}
		onItsHead, err := r.Read(t.Context(), []File{{"image/png", encodePNG(t, turnUpright(sheet, 3))}})
		if err != nil || len(onItsHead.Rows) != len(result.Rows) || onItsHead.Rows[0].Box.Y < 0.5 {
			t.Errorf("on its head: %v, %+v", err, onItsHead.Rows)
		}
	})

	t.Run("after a file that ends the parser", func(t *testing.T) {
		if _, err := r.openPDF(t.Context(), one.Data); err != nil {
			t.Fatal(err)
		}
		if err := r.renderer.instance.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(t.Context(), []File{one}); err == nil {
			t.Error("a closed parser reads")
		}
		result, err := r.Read(t.Context(), []File{one})
		if err != nil {
			t.Fatal(err)
		}
		checkRows(t, result)
	})

	t.Run("without tesseract", func(t *testing.T) {
		without := NewReader(Config{Tesseract: "no-such-program"})
		_, err := without.Read(t.Context(), []File{{"image/png", encodePNG(t, paper(300, 300, image.Rect(50, 50, 250, 90)))}})
		var failure *extract.Failure
		if !errors.As(err, &failure) || !strings.Contains(failure.Detail, "tesseract-ocr") {
			t.Errorf("%v", err)
		}
	})
}

func crop(in *image.Gray, share float64) *image.Gray {
	out := image.NewGray(image.Rect(0, 0, in.Rect.Dx(), int(float64(in.Rect.Dy())*share)))
	copy(out.Pix, in.Pix)
	return out
}

func encodePNG(t testing.TB, picture image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// hugePNG returns a PNG whose header states 60,000 × 60,000 pixels.
func hugePNG() []byte {
	head := []byte("IHDR\x00\x00\xea\x60\x00\x00\xea\x60\x08\x00\x00\x00\x00")
	data := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\r"), head...)
	return binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(head))
}

func TestOrientation(t *testing.T) {
	in := image.NewGray(image.Rect(0, 0, 3, 2))
	copy(in.Pix, []uint8{1, 2, 3, 4, 5, 6})
	for orientation, want := range map[int]string{
		1: "3x2 [1 2 3 4 5 6]", 2: "3x2 [3 2 1 6 5 4]", 3: "3x2 [6 5 4 3 2 1]", 4: "3x2 [4 5 6 1 2 3]",
		5: "2x3 [1 4 2 5 3 6]", 6: "2x3 [4 1 5 2 6 3]", 7: "2x3 [6 3 5 2 4 1]", 8: "2x3 [3 6 2 5 1 4]",
	} {
		out := turnUpright(in, orientation)
		if got := fmt.Sprintf("%dx%d %v", out.Rect.Dx(), out.Rect.Dy(), out.Pix); got != want {
			t.Errorf("orientation %d gives %s, want %s", orientation, got, want)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, in, nil); err != nil {
		t.Fatal(err)
	}
	exif := []byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00")
	withTag := append(append([]byte{0xff, 0xd8}, exif...), b.Bytes()[2:]...)
	if got := exifOrientation(withTag); got != 6 {
		t.Errorf("the tag is %d", got)
	}
	if got := exifOrientation(b.Bytes()); got != 1 {
		t.Errorf("without a tag it is %d", got)
	}
}

func TestTreatments(t *testing.T) {
	page := image.NewGray(image.Rect(0, 0, 600, 800))
	for i := range page.Pix {
		page.Pix[i] = 255
	}
	for y := 60; y < 740; y += 24 { // lines of text
		for x := 60; x < 540; x++ {
			if x/7%3 != 0 {
				for dy := range 9 {
					page.SetGray(x, y+dy, color.Gray{Y: 20})
				}
			}
		}
	}
	if a := skewOf(page); math.Abs(a) > 0.1 {
		t.Errorf("a straight page is turned by %v", a)
	}
	crooked, _ := rotate(page, 1.5)
	if a := skewOf(crooked); math.Abs(math.Abs(a)-1.5) > 0.15 {
		t.Errorf("a page turned by 1.5 degrees is turned by %v", a)
	}
	straight, _ := rotate(crooked, skewOf(crooked))
	if a := skewOf(straight); math.Abs(a) > 0.15 {
		t.Errorf("the page that was turned back is turned by %v", a)
	}
	dotted := image.NewGray(page.Rect)
	copy(dotted.Pix, page.Pix)
	for x := 20; x < 580; x += 4 {
		dotted.SetGray(x, 50, color.Gray{})
		dotted.SetGray(x+1, 50, color.Gray{})
	}
	clean := removeRules(dotted, 200)
	if clean.GrayAt(300, 50).Y != 255 || clean.GrayAt(70, 64).Y != page.GrayAt(70, 64).Y {
		t.Error("the rule stays, or the text is gone")
	}
	photo := image.NewGray(image.Rect(0, 0, 900, 1100))
	for i := range photo.Pix {
		photo.Pix[i] = 60
	}
	corners := [4]point{{100, 80}, {790, 120}, {760, 1000}, {130, 1040}}
	for y := range 1100 {
		for x := range 900 {
			inside := true
			for i := range corners {
				a, b := corners[i], corners[(i+1)%4]
				inside = inside && (b.x-a.x)*(float64(y)-a.y)-(b.y-a.y)*(float64(x)-a.x) >= 0
			}
			if inside {
				photo.SetGray(x, y, color.Gray{Y: 230})
			}
		}
	}
	found, ok := paperCorners(photo)
	if !ok {
		t.Fatal("no sheet was found")
	}
	for i := range corners {
		if math.Hypot(found[i].x-corners[i].x, found[i].y-corners[i].y) > 15 {
			t.Errorf("corner %d is at %v, want %v", i, found[i], corners[i])
		}
	}
	out, back := straighten(photo, found)
	if x, y := back(0, 0); math.Hypot(x-found[0].x, y-found[0].y) > 1 || out.GrayAt(out.Rect.Dx()/2, out.Rect.Dy()/2).Y < 200 {
		t.Errorf("the upper left corner comes from %v, %v", x, y)
	}
}

func FuzzImages(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01"))
	f.Add(hugePNG())
	r := NewReader(Config{MaxPixels: 1_000_000})
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = exifOrientation(data)
		for _, kind := range []string{"image/jpeg", "image/png"} {
			if checkKinds([]File{{kind, data}}, r.config) == nil {
				_, _ = r.decode(File{kind, data})
			}
		}
	})
}
