package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hale/internal/harness/sshd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is an exchange with the laboratory's view of its folder.
type fixture struct {
	*Exchange
	root  string
	taken []string
	log   bytes.Buffer
}

// eachFolder runs a test with a folder of this machine, and with one of an SFTP server.
func eachFolder(t *testing.T, test func(t *testing.T, b *fixture)) {
	begin := func(t *testing.T, root string, s Settings) {
		for _, dir := range []string{"orders", "results"} {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		b := &fixture{root: root}
		b.Exchange = &Exchange{Settings: s, Lab: "northlab", Sends: true, MaxSize: 100, Log: slog.New(slog.NewTextHandler(&b.log, nil))}
		for _, fault := range s.Check() {
			t.Error(fault)
		}
		test(t, b)
		if strings.Contains(b.log.String(), ".hl7") {
			t.Errorf("the log has the name of a file: %s", b.log.String())
		}
	}
	t.Run("folder", func(t *testing.T) {
		root := t.TempDir()
		begin(t, root, Settings{Folder: root})
	})
	t.Run("sftp", func(t *testing.T) {
		server := sshd.Start(t)
		begin(t, filepath.Join(server.Root, "north"), Settings{Folder: "north", SFTP: &SFTP{
			Address: server.Address, User: server.User, Key: server.Key, HostKeys: []string{server.HostKey},
		}})
	})
}

// A server may ask for a password in place of a key.
func TestPassword(t *testing.T) {
	server := sshd.StartPassword(t)
	for _, dir := range []string{"orders", "results"} {
		if err := os.MkdirAll(filepath.Join(server.Root, "north", dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "password")
	for password, want := range map[string]bool{sshd.Password: true, "another": false} {
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		b := &fixture{root: filepath.Join(server.Root, "north")}
		b.Exchange = &Exchange{Lab: "northlab", MaxSize: 100, Log: slog.New(slog.DiscardHandler), Settings: Settings{Folder: "north", SFTP: &SFTP{
			Address: server.Address, User: server.User, PasswordFile: file, HostKeys: []string{server.HostKey},
		}}}
		if faults := b.Settings.Check(); len(faults) > 0 {
			t.Fatal(faults)
		}
		err := b.Poll(t.Context(), func(context.Context, []byte) (string, error) { return "", nil })
		if (err == nil) != want || err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("the right password: %v, got %v", want, err)
		}
	}
}

// put writes a file of the laboratory, with the time of its last change.
func (b *fixture) put(t *testing.T, name, text string, second int) {
	t.Helper()
	file, at := filepath.Join(b.root, "results", name), time.Unix(1_770_000_000+int64(second), 0)
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chtimes(file, at, at)); err != nil {
		t.Fatal(err)
	}
}

// poll looks at the folder, and returns the content that was taken.
func (b *fixture) poll(t *testing.T, answers map[string]string) []string {
	t.Helper()
	b.taken = nil
	err := b.Poll(t.Context(), func(_ context.Context, data []byte) (string, error) {
		if answers[string(data)] == "later" {
			return "", errors.New("the disk is full")
		}
		b.taken = append(b.taken, string(data))
		return answers[string(data)], nil
	})
	if err != nil && !strings.Contains(err.Error(), "the disk is full") {
		t.Fatal(err)
	}
	return b.taken
}

func (b *fixture) files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.root, dir))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, not %q", what, got, want)
	}
}

// An order appears at once, under its name; a repetition changes nothing.
func TestSend(t *testing.T) {
	eachFolder(t, func(t *testing.T, b *fixture) {
		for range 2 {
			if err := b.Send(t.Context(), "1.hl7", []byte("order")); err != nil {
				t.Fatal(err)
			}
		}
		want(t, "orders", b.files(t, "orders"), "1.hl7")
		text, err := os.ReadFile(filepath.Join(b.root, "orders", "1.hl7"))
		if err != nil || string(text) != "order" {
			t.Errorf("%q, %v", text, err)
		}
		// The file of a write that a crash interrupted goes after a day.
		old := filepath.Join(b.root, "orders", ".hale-X.tmp")
		if err := errors.Join(os.WriteFile(old, nil, 0o600), os.Chtimes(old, time.Now(), time.Now().Add(-25*time.Hour))); err != nil {
			t.Fatal(err)
		}
		b.poll(t, nil)
		want(t, "orders later", b.files(t, "orders"), "1.hl7")
	})
}

// Files are taken in the order of their times, each once, when they no longer
// change.
func TestFilesInOrder(t *testing.T) {
	eachFolder(t, func(t *testing.T, b *fixture) {
		b.put(t, "10.hl7", "third", 5)
		b.put(t, "9.hl7", "second", 5)
		b.put(t, "z.hl7", "first", 1)
		b.put(t, "a.hl7", "fourth", 7)
		b.put(t, "0.hl7.part", "half", 0)
		b.put(t, ".0.hl7", "hidden", 0)
		if err := os.Mkdir(filepath.Join(b.root, "results", "old"), 0o700); err != nil {
			t.Fatal(err)
		}
		want(t, "the first look", b.poll(t, nil))
		b.put(t, "a.hl7", "fourth, complete", 8)
		want(t, "the second look", b.poll(t, nil), "first", "second", "third")
		want(t, "the third look", b.poll(t, nil), "fourth, complete")
		want(t, "the fourth look", b.poll(t, nil))
		want(t, "left", b.files(t, "results"), ".0.hl7", "0.hl7.part", "old")
	})
}

// A later file does not overtake one that is still written.
func TestGrowingFile(t *testing.T) {
	eachFolder(t, func(t *testing.T, b *fixture) {
		b.put(t, "1.hl7", "part", 1)
		b.put(t, "2.hl7", "next", 2)
		b.poll(t, nil)
		b.put(t, "1.hl7", "part and rest", 1)
		want(t, "while it grows", b.poll(t, nil))
		want(t, "complete", b.poll(t, nil), "part and rest", "next")
	})
}

// A file that cannot be read is set aside with the reason, and stops no other.
func TestPoisonFiles(t *testing.T) {
	eachFolder(t, func(t *testing.T, b *fixture) {
		for round := range 2 {
			b.put(t, "1.hl7", "poison", 1)
			b.put(t, "2.hl7", strings.Repeat("x", 101), 2)
			b.put(t, "3.hl7", "", 3)
			b.put(t, "4.hl7", "good", 4)
			b.poll(t, nil)
			want(t, "taken", b.poll(t, map[string]string{"poison": "no message begins with MSH"}), "poison", "good")
			want(t, "left", b.files(t, "results"))
			if round > 0 {
				break
			}
			want(t, "failed", b.files(t, "failed"), "1.hl7", "1.hl7.reason.txt", "2.hl7", "2.hl7.reason.txt", "3.hl7", "3.hl7.reason.txt")
		}
		want(t, "failed", b.files(t, "failed"), "1.hl7", "1.hl7.reason.txt", "2-1.hl7", "2-1.hl7.reason.txt", "2-2.hl7", "2-2.hl7.reason.txt",
			"2-3.hl7", "2-3.hl7.reason.txt", "2.hl7", "2.hl7.reason.txt", "3.hl7", "3.hl7.reason.txt")
		for name, reason := range map[string]string{"1": "no message begins with MSH", "2": "the file is larger than allowed", "3": "the file is empty"} {
			text, err := os.ReadFile(filepath.Join(b.root, "failed", name+".hl7.reason.txt"))
			if err != nil || string(text) != reason+"\n" {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
		if n := b.SetAside(); n != 6 {
			t.Errorf("%d files were set aside", n)
		}
	})
}

// closedFile is a folder with a file that cannot be opened.
type closedFile struct {
	fileSystem
	name string
}

func (c *closedFile) Open(name string) (io.ReadCloser, error) {
	if filepath.Base(name) == c.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return c.fileSystem.Open(name)
}

// A file that cannot be read stays, is counted, and does not stop the later ones.
func TestUnreadableFile(t *testing.T) {
	eachFolder(t, func(t *testing.T, b *fixture) {
		b.put(t, "1.hl7", "first", 1)
		b.put(t, "2.hl7", "second", 2)
		under, err := b.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer under.Close()
		fsys := &closedFile{under, "1.hl7"}
		var taken []string
		take := func(_ context.Context, data []byte) (string, error) {
			taken = append(taken, string(data))
			return "", nil
		}
		_ = b.look(t.Context(), fsys, take) // the first look only sees the files
		for range 2 {
			if err := b.look(t.Context(), fsys, take); !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), ".hl7") {
				t.Errorf("the problem is reported as %v", err)
			}
			if n := b.Unreadable(); n != 1 {
				t.Errorf("%d files cannot be read", n)
			}
		}
		want(t, "taken", taken, "second")
		fsys.name = ""
		if err := b.look(t.Context(), fsys, take); err != nil {
			t.Error(err)
		}
		want(t, "taken after that", taken, "second", "first")
		if n := b.Unreadable(); n != 0 {
			t.Errorf("%d files cannot be read", n)
		}
	})
}

// A file that cannot be stored now stays, and stops the later ones.
func TestStoringFails(t *testing.T) {
	eachFolder(t, func(t *testing.T, b *fixture) {
		b.Done = "done"
		b.put(t, "1.hl7", "first", 1)
		b.put(t, "2.hl7", "second", 2)
		b.poll(t, nil)
		want(t, "while the disk is full", b.poll(t, map[string]string{"first": "later"}))
		want(t, "after that", b.poll(t, nil), "first", "second")
		want(t, "done", b.files(t, "done"), "1.hl7", "2.hl7")
	})
}

// A stored file that cannot be removed is not read again.
func TestFileThatStays(t *testing.T) {
	eachFolder(t, func(t *testing.T, b *fixture) {
		b.Done = "done" // a file, because root may write to any folder
		if err := os.WriteFile(filepath.Join(b.root, "done"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		b.put(t, "1.hl7", "first", 1)
		b.poll(t, nil)
		reads := 0
		take := func(context.Context, []byte) (string, error) { reads++; return "", nil }
		for range 3 {
			if err := b.Poll(t.Context(), take); err == nil {
				t.Error("the problem is not reported")
			}
		}
		if reads != 1 {
			t.Errorf("stored %d times", reads)
		}
		if err := os.Remove(filepath.Join(b.root, "done")); err != nil {
			t.Fatal(err)
		}
		if err := b.Poll(t.Context(), take); err != nil || reads != 1 {
			t.Errorf("%v, stored %d times", err, reads)
		}
		want(t, "done", b.files(t, "done"), "1.hl7")
	})
}

// Another host key, or another client key, gets nowhere.
func TestOtherHostAndClientKeys(t *testing.T) {
	server, other := sshd.Start(t), sshd.Start(t)
	settings := SFTP{Address: server.Address, User: server.User, Key: server.Key, HostKeys: []string{other.HostKey}}
	if _, err := settings.connect(t.Context()); err == nil || !strings.Contains(err.Error(), "another host key") {
		t.Errorf("another host key: %v", err)
	}
	settings.HostKeys, settings.Key = []string{other.HostKey, server.HostKey}, other.Key
	if _, err := settings.connect(t.Context()); err == nil || !strings.Contains(err.Error(), "unable to authenticate") {
		t.Errorf("another client key: %v", err)
	}
	settings.Key = server.Key
	session, err := settings.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	eachFolder(t, func(t *testing.T, b *fixture) {
		b.Interval = 10 * time.Millisecond
		ctx, stop := context.WithCancel(t.Context())
		got, done := make(chan string, 10), make(chan error, 1)
		go func() {
			done <- b.Run(ctx, func(_ context.Context, data []byte) (string, error) { got <- string(data); return "", nil })
		}()
		for i := range 3 {
			b.put(t, fmt.Sprintf("%d.hl7", i), fmt.Sprint(i), i)
			if text := <-got; text != fmt.Sprint(i) {
				t.Errorf("%q", text)
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestWrongSettings(t *testing.T) {
	key := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8p1QbVZJxTTPMR4Q5J0hdXo5m0mL3W2a9Iu0qE5JYH"
	for want, s := range map[string]*Settings{
		"":                                              nil,
		"folder: is needed":                             {},
		"folder: must be an absolute path":              {Folder: "north"},
		"interval: must not be negative":                {Folder: "/north", Interval: -1},
		"results: is also the folder of orders":         {Folder: "/north", Results: "orders/"},
		"done: is also the folder of results":           {Folder: "/north", Done: "/north/results"},
		"sftp.address: must be host:port":               {Folder: "north", SFTP: &SFTP{Address: "host", User: "u", Key: "k", HostKeys: []string{key}}},
		"sftp.user: is needed":                          {Folder: "north", SFTP: &SFTP{Address: "h:22", Key: "k", HostKeys: []string{key}}},
		"sftp.key: or password_file is needed":          {Folder: "north", SFTP: &SFTP{Address: "h:22", User: "u", HostKeys: []string{key}}},
		"sftp.host_keys: are needed":                    {Folder: "north", SFTP: &SFTP{Address: "h:22", User: "u", Key: "k"}},
		"sftp.host_keys: must be public keys, such as ": {Folder: "north", SFTP: &SFTP{Address: "h:22", User: "u", Key: "k", HostKeys: []string{"SHA256:x"}}},
	} {
		if err := errors.Join(s.Check()...); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
