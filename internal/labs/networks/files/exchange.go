package files

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Exchange writes and reads the files of one laboratory.
type Exchange struct {
	Settings
	// Lab names the laboratory in log lines.
	Lab string
	// Sends means that orders go out through the folder, too.
	Sends bool
	// MaxSize bounds the bytes of a file; the default is 32 MiB.
	MaxSize int64
	Log     *slog.Logger

	// seen has the files of the previous look; taken those that are stored but
	// could not be removed.
	seen  map[string]stamp
	taken map[string]stamp
	// asideCount counts the files that were set aside since the start.
	asideCount atomic.Int64
	// unreadable counts the files that the previous look could not read.
	unreadable atomic.Int64
	// failing reports that the previous look failed.
	failing bool
}

// stamp changes when a file is written.
type stamp struct {
	size int64
	time time.Time
}

// tempPrefix begins the names of files that are being written.
const tempPrefix = ".hale-"

// tempAge is the age at which the file of an interrupted write is removed.
const tempAge = 24 * time.Hour

func (e *Exchange) open(ctx context.Context) (fileSystem, error) {
	if e.SFTP != nil {
		return e.SFTP.connect(ctx)
	}
	return localFolder{}, nil
}

// Send writes an order. The name appears when the file is complete. A file of
// that name that the laboratory has not taken yet stays: it is from an earlier
// call.
func (e *Exchange) Send(ctx context.Context, name string, data []byte) error {
	fsys, err := e.open(ctx)
	if err != nil {
		return err
	}
	defer fsys.Close()
	final := path.Join(e.orders(), name)
	if exists, err := fsys.Exists(final); err != nil || exists {
		return withoutName(err, "looking for an order")
	}
	return withoutName(writeAtomically(fsys, final, data), "writing an order")
}

// writeAtomically writes a file under another name first.
func writeAtomically(fsys fileSystem, final string, data []byte) error {
	temp := path.Join(path.Dir(final), tempPrefix+rand.Text()+".tmp")
	err := fsys.Write(temp, data)
	if err == nil {
		err = fsys.Rename(temp, final)
	}
	if err != nil {
		_ = fsys.Remove(temp) // it may not exist
	}
	return err
}

// withoutName removes the name of a file from an error.
func withoutName(err error, doing string) error {
	if err == nil {
		return nil
	}
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("files: %s: %w", doing, err)
}

// Take stores the content of a file. A reason means that it never can; an error
// that it cannot now.
type Take func(ctx context.Context, data []byte) (reason string, err error)

// Run looks at the folder of results until ctx ends.
func (e *Exchange) Run(ctx context.Context, take Take) error {
	for {
		err := e.Poll(ctx, take)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !e.failing:
			e.Log.Warn("the files of a lab cannot be taken; trying again", "lab", e.Lab, "error", err)
		case err == nil && e.failing:
			e.Log.Info("the files of a lab are taken again", "lab", e.Lab)
		}
		e.failing = err != nil
		select {
		case <-time.After(cmp.Or(e.Interval, 30*time.Second)):
		case <-ctx.Done():
			return nil
		}
	}
}

// Poll reads the files that are complete, in order. It stops at the first one that is
// not: a later one must not overtake it. A file that cannot be read, for example
// without the permission, stays and does not stop later ones.
func (e *Exchange) Poll(ctx context.Context, take Take) error {
	fsys, err := e.open(ctx)
	if err != nil {
		return err
	}
	defer fsys.Close()
	return e.look(ctx, fsys, take)
}

func (e *Exchange) look(ctx context.Context, fsys fileSystem, take Take) error {
	entries, err := fsys.ReadDir(e.results())
	if err != nil {
		return withoutName(err, "listing the results")
	}
	entries = slices.DeleteFunc(entries, isOther)
	slices.SortFunc(entries, compare)
	before := e.seen
	e.seen = map[string]stamp{}
	for _, f := range entries {
		e.seen[f.Name()] = stampOf(f)
	}
	e.forgetTaken()
	var unread error
	count := int64(0)
	defer func() { e.unreadable.Store(count) }()
	for _, f := range entries {
		if previous, ok := before[f.Name()]; !ok || previous != stampOf(f) {
			break // it may still be written
		}
		err := e.takeOne(ctx, fsys, f, take)
		if errors.Is(err, errUnread) {
			unread = err
			count++
			continue
		}
		if err != nil {
			return errors.Join(err, unread)
		}
		delete(e.seen, f.Name()) // the next file of the name is another one
	}
	if !e.Sends {
		return unread
	}
	return errors.Join(unread, removeTemps(fsys, e.orders()))
}

// errUnread means that one file cannot be read, although its folder can.
var errUnread = errors.New("files: a file cannot be read")

func stampOf(f fs.FileInfo) stamp { return stamp{f.Size(), f.ModTime()} }

// unfinishedSuffixes are the ends of the names that programs give to a file while they
// write it.
var unfinishedSuffixes = []string{".tmp", ".part", ".partial", ".filepart", ".writing", ".lock"}

// isOther reports whether an entry is no file for us.
func isOther(f fs.FileInfo) bool {
	name := strings.ToLower(f.Name())
	return !f.Mode().IsRegular() || strings.HasPrefix(name, ".") ||
		slices.ContainsFunc(unfinishedSuffixes, func(end string) bool { return strings.HasSuffix(name, end) })
}

// compare orders files by the second of their last change, the precision of
// SFTP, and then by name, with numbers by value.
func compare(a, b fs.FileInfo) int {
	return cmp.Or(a.ModTime().Truncate(time.Second).Compare(b.ModTime().Truncate(time.Second)), compareNames(a.Name(), b.Name()))
}

// compareNames compares text with numbers by value: 9.hl7 is before 10.hl7.
func compareNames(a, b string) int {
	left, right := a, b
	for left != "" && right != "" {
		m, n := digits(left), digits(right)
		if m > 0 && n > 0 {
			x, y := strings.TrimLeft(left[:m], "0"), strings.TrimLeft(right[:n], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			left, right = left[m:], right[n:]
			continue
		}
		if left[0] != right[0] {
			return cmp.Compare(left[0], right[0])
		}
		left, right = left[1:], right[1:]
	}
	return cmp.Or(cmp.Compare(len(left), len(right)), cmp.Compare(a, b))
}

// digits counts the leading digits.
func digits(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if n < 0 {
		return len(text)
	}
	return n
}

// forgetTaken forgets files that are gone, or were written again.
func (e *Exchange) forgetTaken() {
	for name, at := range e.taken {
		if e.seen[name] != at {
			delete(e.taken, name)
		}
	}
}

// takeOne stores a file and removes it from the folder.
func (e *Exchange) takeOne(ctx context.Context, fsys fileSystem, f fs.FileInfo, take Take) error {
	name := path.Join(e.results(), f.Name())
	if _, stored := e.taken[f.Name()]; !stored {
		data, reason, err := e.read(fsys, name, f.Size())
		switch {
		case err != nil && isGone(fsys, name): // another node has taken it
			return nil
		case err != nil:
			err = withoutName(err, "reading a file")
			if exists, broken := fsys.Exists(name); broken == nil && exists {
				err = errors.Join(errUnread, err)
			}
			return err
		case reason == "":
			if reason, err = take(ctx, data); err != nil {
				return err
			}
		}
		if reason != "" {
			return withoutName(e.setAside(fsys, f.Name(), reason), "setting a file aside")
		}
	}
	err := e.finish(fsys, f.Name())
	if err == nil || isGone(fsys, name) {
		return nil
	}
	if e.taken == nil {
		e.taken = map[string]stamp{}
	}
	e.taken[f.Name()] = stampOf(f)
	return withoutName(err, "removing a file that is stored")
}

func (e *Exchange) read(fsys fileSystem, name string, size int64) (data []byte, reason string, err error) {
	limit := cmp.Or(e.MaxSize, 32<<20)
	if size > limit {
		return nil, "the file is larger than allowed", nil
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, "", err
	}
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	err = errors.Join(err, f.Close())
	switch {
	case err != nil:
		return nil, "", err
	case len(data) == 0:
		return nil, "the file is empty", nil
	case int64(len(data)) > limit:
		return nil, "the file is larger than allowed", nil
	}
	return data, "", nil
}

// finish removes a stored file, or moves it to the folder for those.
func (e *Exchange) finish(fsys fileSystem, name string) error {
	from := path.Join(e.results(), name)
	if e.Done == "" {
		return fsys.Remove(from)
	}
	to, err := freeName(fsys, e.done(), name)
	if err != nil {
		return err
	}
	return fsys.Rename(from, to)
}

// setAside moves a file that cannot be read, beside a file with the reason. The
// reason comes first: a crash in between leaves the file for the next look.
func (e *Exchange) setAside(fsys fileSystem, name, reason string) error {
	to, err := freeName(fsys, e.failed(), name)
	if err != nil {
		return err
	}
	why := to + ".reason.txt"
	if err := writeAtomically(fsys, why, []byte(reason+"\n")); err != nil {
		return err
	}
	from := path.Join(e.results(), name)
	err = fsys.Rename(from, to)
	if err != nil && isGone(fsys, from) { // another node has moved it, perhaps here
		if isGone(fsys, to) {
			_ = fsys.Remove(why) // best effort: a reason without its file
		}
		return nil
	}
	if err == nil {
		e.asideCount.Add(1)
		e.Log.Error("a file of a lab cannot be read; it was set aside with the reason", "lab", e.Lab)
	}
	return err
}

// SetAside returns the number of files that were set aside since the start.
func (e *Exchange) SetAside() int64 { return e.asideCount.Load() }

// Unreadable returns how many files the last look at the folder could not read.
func (e *Exchange) Unreadable() int64 { return e.unreadable.Load() }

// isGone reports that a file does not exist any more. The error of a move does
// not report that: SFTP has one code for a missing file and for a missing folder.
func isGone(fsys fileSystem, name string) bool {
	exists, err := fsys.Exists(name)
	return err == nil && !exists
}

// freeName returns the path of a file in a folder, which is created if need be,
// under a name that is free.
func freeName(fsys fileSystem, dir, name string) (string, error) {
	if err := fsys.MakeDir(dir); err != nil {
		return "", err
	}
	to := path.Join(dir, name)
	for n := 2; ; n++ {
		exists, err := fsys.Exists(to)
		if err != nil || !exists {
			return to, err
		}
		to = path.Join(dir, strconv.Itoa(n)+"-"+name)
	}
}

// removeTemps removes the files of writes that a crash interrupted. Ages are
// those of the folder's own clock: the newest file is at most as old as now.
func removeTemps(fsys fileSystem, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return withoutName(err, "listing the orders")
	}
	var newest time.Time
	for _, f := range entries {
		if f.ModTime().After(newest) {
			newest = f.ModTime()
		}
	}
	for _, f := range entries {
		if strings.HasPrefix(f.Name(), tempPrefix) && newest.Sub(f.ModTime()) > tempAge {
			if err := fsys.Remove(path.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return withoutName(err, "removing an interrupted write")
			}
		}
	}
	return nil
}

// CheckFolder reports why a folder of this machine cannot be used; nil for an
// SFTP server. sends means that orders go out through it, too.
func (s *Settings) CheckFolder(sends bool) error {
	if s == nil || s.SFTP != nil {
		return nil
	}
	dirs := []string{s.results()}
	if sends {
		dirs = append(dirs, s.orders())
	}
	for _, dir := range dirs {
		probe := path.Join(dir, tempPrefix+rand.Text()+".tmp")
		if err := (localFolder{}).Write(probe, []byte("x")); err != nil {
			return err
		}
		if err := (localFolder{}).Remove(probe); err != nil {
			return err
		}
	}
	return nil
}
