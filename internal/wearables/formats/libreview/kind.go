package libreview

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// Provider is the catalogue's name for sensors that are read through the
// wearer's own account.
const Provider = "abbott_libreview"

// Kind is a LibreView export, or a graph of LibreLinkUp.
var Kind = files.Kind{Name: "libreview", Title: "LibreView export", Provider: Provider, Check: check, Run: run}

var errUnlike = files.Unlike("the file has no header of a LibreView export")

func check(path string, limit int64) error {
	return sheet.Check(path, limit, func(in io.Reader) error {
		start := bufio.NewReader(in)
		if isObject(start) {
			_, _, err := readGraph(start)
			return err
		}
		_, _, err := open(start)
		return err
	})
}

// isObject looks whether a document is a JSON object.
func isObject(in *bufio.Reader) bool {
	start, _ := in.Peek(64) // an error comes again with the first read
	return bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n\ufeff"), []byte("{"))
}

func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	return sheet.Run(ctx, in, Provider, read)
}

// read reads either document to its end.
func read(ctx context.Context, d *sheet.Document) error {
	start := bufio.NewReader(d.File)
	if isObject(start) {
		return readLinkUp(ctx, d, start)
	}
	if _, err := d.File.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return readTable(ctx, d)
}
