package imports_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/imports"
)

// zeros is an endless file of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// zipEntry returns a zip with one entry.
func zipEntry(t *testing.T, name string, content io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	entry, err := z.Create(name)
	if err == nil {
		_, err = io.Copy(entry, content)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const exportHead = `<?xml version="1.0"?><HealthData locale="en_GB"><ExportDate value="2026-03-01 08:00:00 +0100"/>`

// Harmful, broken and unknown files are refused on receipt, or end the import. The error
// is one that a person understands. Such a file never uses more resources than its limits
// allow.
func TestHostileFiles(t *testing.T) {
	const spaces = 64 << 20
	bomb := zipEntry(t, "apple_health_export/export.xml", io.MultiReader(strings.NewReader(exportHead), io.LimitReader(zeros{}, spaces)))
	large := zipEntry(t, "apple_health_export/export.xml", io.MultiReader(strings.NewReader(exportHead),
		strings.NewReader(strings.Repeat(" ", spaces)), strings.NewReader("</HealthData>")))
	whole := export(t, 2)
	var gzipped bytes.Buffer
	packer := gzip.NewWriter(&gzipped)
	_, _ = packer.Write([]byte("text"))
	_ = packer.Close()
	for name, data := range map[string][]byte{
		"a zip without an export": zipEntry(t, "holiday.txt", strings.NewReader("sun")),
		"an empty zip":            zipEntry(t, "empty.txt", strings.NewReader("")),
		"a truncated zip":         whole[:len(whole)/2],
		"a picture":               append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 100)...),
		"text":                    []byte("Dear diary"),
		"a table of another kind": []byte("a,b,c\n1,2,3\n"),
		"a gzip":                  gzipped.Bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t, storetest.SQLite(t))
			_, err := b.service.Receive(b.ctx, "", bytes.NewReader(data))
			if kind := fault.KindOf(err); kind != fault.Invalid {
				t.Fatalf("%v: %v", kind, err)
			}
			if strings.Contains(err.Error(), "Dear") || len(b.files()) != 0 {
				t.Errorf("%v, files %v", err, b.files())
			}
		})
	}
	for name, data := range map[string][]byte{"a bomb of zeros": bomb, "a bomb of blanks": large} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t, storetest.SQLite(t))
			if _, err := b.service.Receive(b.ctx, "", bytes.NewReader(data)); err == nil || !strings.Contains(err.Error(), "200 times") || len(b.files()) != 0 {
				t.Errorf("%v, files %v", err, b.files())
			}
		})
	}
}

// deflatedZip returns a zip with one compressed entry. Its directory states other sizes than
// the real ones.
func deflatedZip(t *testing.T, content io.Reader, stated, packed uint64) []byte {
	t.Helper()
	var body bytes.Buffer
	w, err := flate.NewWriter(&body, flate.BestSpeed)
	if err == nil {
		_, err = io.Copy(w, content)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	entry, made := z.CreateRaw(&zip.FileHeader{
		Name: "apple_health_export/export.xml", Method: zip.Deflate, UncompressedSize64: stated, CompressedSize64: max(packed, uint64(body.Len())),
	})
	if err := errors.Join(err, w.Close(), made); err != nil {
		t.Fatal(err)
	}
	_, err = body.WriteTo(entry)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The size of the document is over the limit, as its zip states. Receive
// refuses the zip after it unpacks only the head: the five gigabytes do not
// even exist. No other limit refuses these files, neither that of the packing
// ratio nor that of the upload.
func TestADocumentOverTheLimit(t *testing.T) {
	const mib = 1 << 20
	const whole = exportHead + "</HealthData>"
	head := func() io.Reader { return strings.NewReader(exportHead) }
	blanks := func(n int) io.Reader { return strings.NewReader(strings.Repeat(" ", n)) }
	filled := func(with io.Reader) io.Reader {
		return io.MultiReader(head(), io.LimitReader(with, 16*mib), strings.NewReader("</HealthData>"))
	}
	for name, test := range map[string]struct {
		data  []byte
		limit int64
	}{
		"zeros":           {zipEntry(t, "export.xml", filled(zeros{})), 8 * mib},
		"blanks":          {zipEntry(t, "export.xml", filled(blanks(16*mib))), 8 * mib},
		"five gigabytes":  {deflatedZip(t, io.MultiReader(head(), blanks(mib)), 5<<30, 64*mib), 4 << 30},
		"not in a zip":    {[]byte(exportHead + strings.Repeat(" ", 8*mib) + "</HealthData>"), 8 * mib},
		"one byte beyond": {zipEntry(t, "export.xml", strings.NewReader(whole)), int64(len(exportHead+"</HealthData>") - 1)},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t, storetest.SQLite(t))
			b.service.MaxDocument = test.limit
			_, err := b.service.Receive(b.ctx, "", bytes.NewReader(test.data))
			if !fault.Is(err, fault.TooLarge) || !strings.Contains(err.Error(), fmt.Sprintf("larger than %d bytes", test.limit)) || len(b.files()) != 0 {
				t.Errorf("%v, files %v", err, b.files())
			}
		})
	}
	t.Run("as large as the limit", func(t *testing.T) {
		b := newFixture(t, storetest.SQLite(t))
		b.service.MaxDocument = int64(len(whole))
		if _, err := b.service.Receive(b.ctx, "", bytes.NewReader(zipEntry(t, "export.xml", strings.NewReader(whole)))); err != nil {
			t.Error(err)
		}
	})
}

// A document is longer than the size in the zip's directory. It is read up to that size,
// and the report states that it is truncated.
func TestDocumentLargerThanItsZipStates(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	b.service.MaxDocument = 8 << 20
	blanks := strings.NewReader(strings.Repeat(" ", 16<<20))
	up, err := b.service.Receive(b.ctx, "", bytes.NewReader(deflatedZip(t, io.MultiReader(strings.NewReader(exportHead), blanks), 1<<20, 0)))
	if err != nil {
		t.Fatal(err)
	}
	made := create(t, b, up)
	defer b.work(b.service)()
	if ended := b.awaitEnd(made.ID); ended.Status != imports.Succeeded || !ended.Report.Truncated {
		t.Errorf("%s: %s, %+v", ended.Status, ended.Error, ended.Report)
	}
}

func create(t *testing.T, b *fixture, up *imports.Upload) (made imports.Import) {
	t.Helper()
	if err := b.db.Write(b.ctx, func(tx *store.Tx) (err error) {
		made, err = b.service.Create(b.ctx, tx, b.user, up, false)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return made
}
