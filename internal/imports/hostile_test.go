package imports_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"hale/internal/fault"
	"hale/internal/imports"
	"hale/internal/store"
	"hale/internal/store/storetest"
)

// zeros is an endless file of nothing.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// zipped is a zip with one entry.
func zipped(t *testing.T, name string, content io.Reader) []byte {
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

// Files that mean harm, or are broken, or are something else, are refused
// where they come in or end the import, with a reason that a person
// understands, and never take more than their share.
func TestHostileFiles(t *testing.T) {
	const spaces = 64 << 20
	bomb := zipped(t, "apple_health_export/export.xml", io.MultiReader(strings.NewReader(exportHead), io.LimitReader(zeros{}, spaces)))
	large := zipped(t, "apple_health_export/export.xml", io.MultiReader(strings.NewReader(exportHead),
		strings.NewReader(strings.Repeat(" ", spaces)), strings.NewReader("</HealthData>")))
	whole := export(t, 2)
	var gzipped bytes.Buffer
	packer := gzip.NewWriter(&gzipped)
	_, _ = packer.Write([]byte("text"))
	_ = packer.Close()
	for name, data := range map[string][]byte{
		"a zip without an export": zipped(t, "holiday.txt", strings.NewReader("sun")),
		"an empty zip":            zipped(t, "empty.txt", strings.NewReader("")),
		"a truncated zip":         whole[:len(whole)/2],
		"a picture":               append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 100)...),
		"text":                    []byte("Dear diary"),
		"a table of another kind": []byte("a,b,c\n1,2,3\n"),
		"a gzip":                  gzipped.Bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, storetest.SQLite(t))
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
			b := newBed(t, storetest.SQLite(t))
			if _, err := b.service.Receive(b.ctx, "", bytes.NewReader(data)); err == nil || !strings.Contains(err.Error(), "200 times") || len(b.files()) != 0 {
				t.Errorf("%v, files %v", err, b.files())
			}
		})
	}
	for name, data := range map[string][]byte{"zeros over the limit": bomb, "blanks over the limit": large} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, storetest.SQLite(t))
			b.service.MaxDocument = 8 << 20
			up, err := b.service.Receive(b.ctx, "", bytes.NewReader(data))
			if err == nil {
				made := create(t, b, up)
				stop := b.work(b.service)
				ended := b.over(made.ID)
				stop()
				if ended.Status != imports.Failed || ended.Error == "" || strings.Contains(ended.Error, "internal error") {
					t.Errorf("%s: %s", ended.Status, ended.Error)
				}
				return
			}
			if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.TooLarge {
				t.Errorf("%v: %v", kind, err)
			}
		})
	}
}

// A zip that states five gigabytes is refused before any of them is unpacked.
func TestAnEntryOfFiveGigabytes(t *testing.T) {
	b := newBed(t, storetest.SQLite(t))
	b.service.MaxDocument = 4 << 30
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	entry, err := z.CreateRaw(&zip.FileHeader{
		Name: "apple_health_export/export.xml", Method: zip.Store, UncompressedSize64: 5 << 30, CompressedSize64: uint64(len(exportHead)),
	})
	if err == nil {
		_, err = io.WriteString(entry, exportHead)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	up, err := b.service.Receive(b.ctx, "", bytes.NewReader(packed.Bytes()))
	if err == nil {
		made := create(t, b, up)
		defer b.work(b.service)()
		if ended := b.over(made.ID); ended.Status != imports.Failed || ended.Error == "" || strings.Contains(ended.Error, "internal error") {
			t.Errorf("%s: %s", ended.Status, ended.Error)
		}
		return
	}
	if kind := fault.KindOf(err); kind != fault.Invalid && kind != fault.TooLarge {
		t.Errorf("%v: %v", kind, err)
	}
}

func create(t *testing.T, b *bed, up *imports.Upload) (made imports.Import) {
	t.Helper()
	if err := b.db.Write(b.ctx, func(tx *store.Tx) (err error) {
		made, err = b.service.Create(b.ctx, tx, b.user, up, false)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return made
}
