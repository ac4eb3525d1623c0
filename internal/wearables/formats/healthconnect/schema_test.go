package healthconnect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/files/filestest"
)

// views returns SQL that creates n views. An upload may have millions of views.
func views(n int) string {
	var b strings.Builder
	b.WriteString("PRAGMA page_size = 512; BEGIN;")
	for i := range n {
		fmt.Fprintf(&b, "CREATE VIEW v%d AS SELECT %d;", i, i)
	}
	return b.String() + "COMMIT;"
}

func TestSchemaIsBounded(t *testing.T) {
	some := views(500) // together with the table they take pages of several levels
	whole := contents(t, build(t, some, plainSteps))
	if err := check(filestest.Save(t, whole), 0); err != nil {
		t.Errorf("five hundred views: %v", err)
	}
	inLoop := bytes.Clone(whole)
	if inLoop[fileHeader] != interiorPage {
		t.Fatalf("the schema begins with a page of kind %d", inLoop[fileHeader])
	}
	binary.BigEndian.PutUint32(inLoop[fileHeader+8:], 1)
	for name, content := range map[string][]byte{
		"views":     contents(t, build(t, views(maxEntries), plainSteps)),
		"long ones": contents(t, build(t, plainSteps, "CREATE TABLE a (b /*"+strings.Repeat("x", maxSchema)+"*/)")),
		"a loop":    inLoop,
		"in a zip":  zipFile(t, "a.db", contents(t, build(t, plainSteps, views(maxEntries)))),
	} {
		if _, err := runAlone(t, content); !errors.Is(err, errSchema) {
			t.Errorf("%s: %v", name, err)
		}
		if err := check(filestest.Save(t, content), 0); name != "in a zip" && !errors.Is(err, errSchema) {
			t.Errorf("%s, looked at: %v", name, err)
		}
	}
	// A file that lost its end is refused as damaged, wherever it ends.
	for at := len(whole) - 100; at > 0; at -= 4096 {
		if err := check(filestest.Save(t, whole[:at]), 0); err != nil && !fault.Is(err, fault.Unprocessable) {
			t.Errorf("%d of %d bytes: %v", at, len(whole), err)
		}
	}
}

// The check of the schema ends for any file.
func FuzzSchema(f *testing.F) {
	f.Add(contents(f, build(f, plainSteps)))
	f.Add(contents(f, build(f, views(20), plainSteps)))
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := schemaFits(bytes.NewReader(content)); err != nil && !errors.Is(err, errSchema) {
			t.Fatal(err)
		}
	})
}
