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
		t.Error("revealed another text")
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

// The keys of a file can be added, moved, removed and joined with those of another one.
func TestEditsOfTheRootKeyFile(t *testing.T) {
	_, line := NewRootKey()
	first := "# Root key.\n" + line + "\n"
	both, added := AddRootKey(first)
	ids := func(text string) []KeyID {
		root, err := ParseRoot(text)
		if err != nil {
			t.Fatal(err)
		}
		return root.IDs()
	}
	old := ids(first)[0]
	if got := ids(both); len(got) != 2 || got[0] != old || got[1] != added {
		t.Errorf("added: %v", got)
	}
	promoted, err := PromoteRootKey(both, added)
	if got := ids(promoted); err != nil || got[0] != added || got[1] != old || !strings.HasPrefix(promoted, "# Root key.\n") {
		t.Errorf("promoted: %v, %v in %q", got, err, promoted)
	}
	removed, err := RemoveRootKey(promoted, old)
	if got := ids(removed); err != nil || len(got) != 1 || got[0] != added {
		t.Errorf("removed: %v, %v", got, err)
	}
	if _, err := RemoveRootKey(removed, added); err == nil {
		t.Error("the last key was removed")
	}
	if _, err := PromoteRootKey(removed, old); err == nil {
		t.Error("an unknown key was promoted")
	}
	for _, text := range []string{"", first} {
		joined, err := JoinRootKeys(text, promoted)
		if got := ids(joined); err != nil || len(got) != 2 || text != "" && got[0] != old || strings.Count(joined, "#") != 1 {
			t.Errorf("joined with %q: %v, %v", text, got, err)
		}
	}
	if again, err := JoinRootKeys(both, first); err != nil || again != both {
		t.Errorf("joined again: %q, %v", again, err)
	}
	if _, err := JoinRootKeys(first, "word"); err == nil {
		t.Error("a text without a key was joined")
	}
}
