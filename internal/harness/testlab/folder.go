package testlab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Folder exchanges files with the sender of orders, from the laboratory's side.
type Folder struct {
	lab *Lab
	// orders and results are the folders in which files arrive for the other
	// side.
	orders, results, failed string
	files                   int
}

// OpenFolder makes the subfolders of a folder.
func (l *Lab) OpenFolder(root string) (*Folder, error) {
	f := &Folder{lab: l, orders: filepath.Join(root, "orders"), results: filepath.Join(root, "results"), failed: filepath.Join(root, "failed")}
	for _, dir := range []string{root, f.orders, f.results} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Take receives the orders that are there, in the order of their names, and writes
// the answers. It returns the number of orders.
func (f *Folder) Take() (int, error) {
	entries, err := os.ReadDir(f.orders) // sorted by name
	if err != nil {
		return 0, err
	}
	taken := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := filepath.Join(f.orders, e.Name())
		message, err := os.ReadFile(name)
		if err != nil {
			return taken, err
		}
		if _, err := f.write(f.lab.take(string(message))); err != nil {
			return taken, err
		}
		if err := os.Remove(name); err != nil {
			return taken, err
		}
		taken++
	}
	return taken, nil
}

// write writes a file under a name that sorts after all earlier ones. It is not
// atomic, like the programs of many laboratories.
func (f *Folder) write(message string) (string, error) {
	f.files++
	name := filepath.Join(f.results, fmt.Sprintf("%d.hl7", f.files))
	file, err := os.Create(name)
	if err != nil {
		return "", err
	}
	half := len(message) / 2
	_, first := file.WriteString(message[:half])
	_, second := file.WriteString(message[half:])
	return name, errors.Join(first, second, file.Close())
}

// Send writes a message and waits until the other side removes the file. It
// returns AA when the file is gone, and AR when the file is among those that
// cannot be read.
func (f *Folder) Send(ctx context.Context, message string) (string, error) {
	name, err := f.write(message)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(filepath.Join(f.failed, filepath.Base(name))); err == nil {
				return "AR", nil
			}
			return "AA", nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
