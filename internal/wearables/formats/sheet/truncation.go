package sheet

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// mostLooked bounds how much of a document is looked through for its end.
const mostLooked = 16 << 20

// EndsEarly reports whether a file is JSON that ends in the middle. It reports false
// for a file longer than the scanned part.
func EndsEarly(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	in := &io.LimitedReader{R: file, N: mostLooked}
	document := NewBoundedTo(in, mostLooked+1)
	start := make([]byte, 512)
	n, err := io.ReadFull(document, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, err
	}
	start = bytes.TrimLeft(start[:n], " \t\r\n")
	if len(start) == 0 || start[0] != '[' && start[0] != '{' {
		return false, nil
	}
	decoder := json.NewDecoder(io.MultiReader(bytes.NewReader(start), document))
	for open := 0; ; {
		token, err := decoder.Token()
		switch token {
		case json.Delim('['), json.Delim('{'):
			open++
		case json.Delim(']'), json.Delim('}'):
			open--
		}
		if err != nil {
			atEnd := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) && open > 0
			return atEnd && in.N > 0, nil
		}
	}
}
