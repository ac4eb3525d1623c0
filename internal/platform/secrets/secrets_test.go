package secrets

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestTextIsWithheld(t *testing.T) {
	const plain = "sk_hunter2"
	holder := struct{ Key Text }{plain}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", Text(plain), "holder", holder)
	doc, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, seen := range []string{
		log.String(), string(doc), fmt.Sprint(holder), fmt.Sprintf("%v %+v %#v %s %q %x %d", holder, holder, holder, holder.Key, holder.Key, holder.Key, holder.Key),
	} {
		if strings.Contains(seen, "hunter2") || strings.Contains(seen, fmt.Sprintf("%x", plain)) {
			t.Errorf("seen in %s", seen)
		}
	}
	if holder.Key.Reveal() != plain {
		t.Error("revealed something else")
	}
}

func TestSealedValueOpensOnlyInItsPlace(t *testing.T) {
	key, err := NewKey(Bytes(KeySize))
	if err != nil {
		t.Fatal(err)
	}
	sealed := key.Seal(nil, "a:1", []byte("x"))
	if len(sealed) != 1+Overhead {
		t.Errorf("%d bytes", len(sealed))
	}
	if plain, err := key.Open("a:1", sealed); err != nil || string(plain) != "x" {
		t.Errorf("%q, %v", plain, err)
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, err := key.Open("a:1", bad); err == nil {
			t.Errorf("opened with byte %d changed", i)
		}
	}
	if _, err := key.Open("a:2", sealed); err == nil {
		t.Error("opened in another place")
	}
}

// The stored form is the nonce followed by the output of AES-GCM (RFC 5116), with the
// place as associated data. A value from any implementation of AES-GCM opens.
func TestSealedForm(t *testing.T) {
	raw := Bytes(KeySize)
	key, err := NewKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	for _, plain := range []string{"", "x", strings.Repeat("long ", 1000)} {
		nonce := Bytes(gcm.NonceSize())
		if got, err := key.Open("a:1", gcm.Seal(nonce, nonce, []byte(plain), []byte("a:1"))); err != nil || string(got) != plain || got == nil {
			t.Errorf("opened %q, %v", got, err)
		}
		sealed := key.Seal([]byte("before"), "a:1", []byte(plain))
		rest, ok := bytes.CutPrefix(sealed, []byte("before"))
		if !ok || len(rest) != len(plain)+Overhead {
			t.Fatalf("%d bytes of %d", len(rest), len(plain))
		}
		if got, err := gcm.Open(nil, rest[:gcm.NonceSize()], rest[gcm.NonceSize():], []byte("a:1")); err != nil || string(got) != plain {
			t.Errorf("sealed %q, %v", got, err)
		}
	}
	for n := range Overhead {
		if _, err := key.Open("a:1", make([]byte, n)); !errors.Is(err, ErrSealed) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A new root key is the first in the file. Values that the old key sealed still open.
func TestChangeOfTheRootKey(t *testing.T) {
	line := func() string { return base64.StdEncoding.EncodeToString(Bytes(KeySize)) + "\n" }
	before, after := line(), line()
	old, err := ParseRoot(before)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := old.Seal("k", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	both, err := ParseRoot("# newest first\n" + after + "\n" + before)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := both.Open("k", sealed); err != nil || string(plain) != "x" {
		t.Errorf("%q, %v", plain, err)
	}
	fresh, err := both.Seal("k", []byte("y"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Open("k", fresh); err == nil {
		t.Error("the old key still seals")
	}
	for _, bad := range []string{"", "# nothing\n", "not base64", "AAAA"} {
		if _, err := ParseRoot(bad); err == nil {
			t.Errorf("%q is no root key", bad)
		}
	}
}

func TestRootKeyFileIsCreatedOnceAndPrivate(t *testing.T) {
	dir := t.TempDir()
	first, made, err := RootFile(dir)
	if err != nil || !made {
		t.Fatalf("%v, %v", made, err)
	}
	info, err := os.Stat(filepath.Join(dir, RootFileName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	sealed, err := first.Seal("k", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	again, made, err := RootFile(dir)
	if err != nil || made {
		t.Fatalf("%v, %v", made, err)
	}
	if _, err := again.Open("k", sealed); err != nil {
		t.Error(err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

// Processes that start at once on an empty folder use the same key.
func TestOneProcessCreatesTheRootKeyFile(t *testing.T) {
	for name, link := range map[string]func(string, string) error{"link": os.Link, "no links": func(string, string) error { return errors.ErrUnsupported }} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), RootFileName)
			var made atomic.Int64
			var wg sync.WaitGroup
			for range 8 { // each process found no file
				wg.Go(func() {
					created, err := writeRootFile(path, link)
					if err != nil {
						t.Error(err)
					}
					if created {
						made.Add(1)
					}
				})
			}
			wg.Wait()
			if n := made.Load(); n != 1 {
				t.Errorf("made by %d", n)
			}
			if _, created, err := RootFile(filepath.Dir(path)); err != nil || created {
				t.Errorf("%v, %v", created, err)
			}
			if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
				t.Errorf("%v, %v", all, err)
			}
		})
	}
}

// A damaged file is not replaced, because the values that its key sealed would be lost.
func TestDamagedRootKeyFile(t *testing.T) {
	for _, text := range []string{"", "# Root key.\n", "AAAA"} {
		path := filepath.Join(t.TempDir(), RootFileName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := RootFile(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "your copy") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRandomTextsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		s := Random(22)
		if len(s) != 22 || seen[s] {
			t.Fatal(s)
		}
		seen[s] = true
	}
}
