package reader_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hale/internal/labs/reports"
	"hale/internal/labs/reports/extract"
	"hale/internal/labs/reports/pages"
	"hale/internal/labs/reports/reader"
)

// The words that make this test binary a child, with the engine below or the real one.
const (
	childWord     = "serve-as-a-child"
	realChildWord = "read-as-a-child"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && (os.Args[1] == childWord || os.Args[1] == realChildWord) {
		var start func(pages.Config) reader.Engine
		if os.Args[1] == childWord {
			start = func(pages.Config) reader.Engine { return engine{} }
		}
		if err := reader.Serve(context.Background(), os.Stdin, os.Stdout, start); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// engine does what a file says.
type engine struct{}

func (engine) Read(_ context.Context, files []pages.File) (extract.Result, error) {
	switch string(files[0].Data) {
	case "die":
		os.Exit(3)
	case "panic":
		panic("a parser")
	case "hang":
		time.Sleep(time.Hour)
	case "fail":
		return extract.Result{}, &extract.Failure{Reason: extract.NotEnglish, Detail: "not English"}
	case "error":
		return extract.Result{}, errors.New("no program")
	case "memory":
		var all [][]byte
		for range 64 {
			all = append(all, bytes.Repeat([]byte{1}, 64<<20))
		}
		return extract.Result{Metadata: extract.Metadata{Lab: string(all[0][:1])}}, nil
	case "environment":
		wd, err := os.Getwd()
		return extract.Result{Metadata: extract.Metadata{Lab: strings.Join(os.Environ(), "\n"), Specimen: wd}}, err
	case "leave":
		return extract.Result{}, os.WriteFile("left", []byte("personal"), 0o600)
	}
	return extract.Result{Metadata: extract.Metadata{Lab: string(files[len(files)-1].Data), Specimen: files[0].Type}}, nil
}

func (engine) Image(_ context.Context, files []pages.File, page int) ([]byte, error) {
	return bytes.Repeat([]byte{byte(page)}, 1<<20), nil
}

func newPool(t *testing.T) *reader.Pool {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &reader.Pool{
		Command: []string{program, childWord}, Dir: filepath.Join(t.TempDir(), "readers"), Size: 1, Idle: time.Minute,
		Timeout: 30 * time.Second, ImageTimeout: 30 * time.Second, Config: reader.Config{Memory: 1 << 30, Seconds: 60},
	}
	t.Cleanup(p.Close)
	return p
}

func files(texts ...string) (all []reports.File) {
	for _, text := range texts {
		all = append(all, reports.File{Type: reports.PNG, Data: []byte(text)})
	}
	return all
}

func TestOneChildReadsManyFiles(t *testing.T) {
	p := newPool(t)
	for _, text := range []string{"one", "two"} {
		r, err := p.Read(t.Context(), files("first", text))
		if err != nil || r.Metadata.Lab != text || r.Metadata.Specimen != reports.PNG {
			t.Fatalf("%+v, %v", r.Metadata, err)
		}
	}
	image, err := p.Image(t.Context(), files("x"), 7)
	if err != nil || len(image) != 1<<20 || image[0] != 7 {
		t.Errorf("an image of %d bytes: %v", len(image), err)
	}
	if n := p.Processes(); n != 2 {
		t.Errorf("%d processes, not one for reports and one for pages", n)
	}
	p.Close()
	if left, _ := filepath.Glob(filepath.Join(p.Dir, "*")); len(left) != 0 {
		t.Errorf("left after the end: %v", left)
	}
}

// After any end of a child, the next file is read.
func TestChildThatEnds(t *testing.T) {
	p := newPool(t)
	usual := p.Timeout
	for _, text := range []string{"die", "panic", "hang", "memory", "error"} {
		if p.Timeout = usual; text == "hang" {
			p.Timeout = 2 * time.Second
		}
		if _, err := p.Read(t.Context(), files(text)); !errors.Is(err, reports.ErrReaderGone) {
			t.Errorf("%s: %v", text, err)
		}
		p.Timeout = usual
		if r, err := p.Read(t.Context(), files("next")); err != nil || r.Metadata.Lab != "next" {
			t.Errorf("after %s: %+v, %v", text, r.Metadata, err)
		}
	}
	var failure *extract.Failure
	if _, err := p.Read(t.Context(), files("fail")); !errors.As(err, &failure) || failure.Reason != extract.NotEnglish {
		t.Errorf("a failure: %v", err)
	}
}

func TestChildHasNoSecrets(t *testing.T) {
	t.Setenv("HALE_ROOT_KEY", "secret")
	p := newPool(t)
	r, err := p.Read(t.Context(), files("environment"))
	if err != nil || strings.Contains(r.Metadata.Lab, "HALE_") || !strings.HasPrefix(filepath.Base(r.Metadata.Specimen), "reader-") {
		t.Errorf("environment %q in %s: %v", r.Metadata.Lab, r.Metadata.Specimen, err)
	}
	if _, err := p.Read(t.Context(), files("leave")); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if left, _ := filepath.Glob(filepath.Join(p.Dir, "*")); len(left) != 0 {
		t.Errorf("left after the end: %v", left)
	}
}

// A canceled request ends its child and does not count as an exit.
func TestCanceledReading(t *testing.T) {
	p := newPool(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := p.Read(ctx, files("hang")); !errors.Is(err, context.Canceled) || errors.Is(err, reports.ErrReaderGone) {
		t.Errorf("canceled: %v", err)
	}
}

// A child that someone killed while it was idle is replaced.
func TestIdleChildIsReplaced(t *testing.T) {
	p := newPool(t)
	if _, err := p.Read(t.Context(), files("x")); err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil || len(folders) == 0 {
		t.Skip("no /proc here")
	}
	for _, link := range folders {
		if dir, err := os.Readlink(link); err == nil && strings.HasPrefix(dir, p.Dir) {
			killByName(t, filepath.Base(filepath.Dir(link)))
		}
	}
	if r, err := p.Read(t.Context(), files("again")); err != nil || r.Metadata.Lab != "again" {
		t.Errorf("%+v, %v", r.Metadata, err)
	}
}

func killByName(t *testing.T, text string) {
	t.Helper()
	pid := 0
	for _, r := range text {
		pid = pid*10 + int(r-'0')
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for range 3000 { // until it has ended
		if state, err := os.ReadFile("/proc/" + text + "/stat"); err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestIdleChildEnds(t *testing.T) {
	p := newPool(t)
	p.Idle = 10 * time.Millisecond
	if _, err := p.Read(t.Context(), files("x")); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if left, _ := filepath.Glob(filepath.Join(p.Dir, "*")); len(left) == 0 && p.Processes() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the idle child did not end")
}

// A sweep removes the folders that a killed process left, and no folder in use.
func TestSweep(t *testing.T) {
	p := newPool(t)
	if _, err := p.Read(t.Context(), files("x")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.Dir, "reader-left"), 0o700); err != nil {
		t.Fatal(err)
	}
	other := &reader.Pool{Dir: p.Dir}
	if err := other.Sweep(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(p.Dir, "*")); len(left) != 1 || filepath.Base(left[0]) == "reader-left" {
		t.Errorf("after the sweep: %v", left)
	}
	if r, err := p.Read(t.Context(), files("y")); err != nil || r.Metadata.Lab != "y" {
		t.Errorf("%+v, %v", r.Metadata, err)
	}
}
