package reader

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"hale/internal/labs/reports/extract"
	"hale/internal/labs/reports/pages"
)

// Config has the limits of a child.
type Config struct {
	Pages   pages.Config `json:"pages"`
	Memory  int64        `json:"memory"`  // bytes of data; 0 means no limit
	Seconds uint64       `json:"seconds"` // of processor time, for all files that one child reads; 0 means no limit
}

// request asks the child to read files or to draw a page. The bytes of the files follow.
type request struct {
	Config Config     `json:"config"`
	Page   int        `json:"page"` // 0 reads the report
	Files  []fileHead `json:"files"`
}

type fileHead struct {
	Type string `json:"type"`
	Size int64  `json:"size"`
}

// answer is the outcome of a request. The bytes of an image follow.
type answer struct {
	Result  extract.Result   `json:"result"`
	Failure *extract.Failure `json:"failure"`
	Error   string           `json:"error"` // of the reading, without data of the file
	Setup   string           `json:"setup"` // why the child cannot read any file
	Size    int64            `json:"size"`  // of the image
	// Last says that the child ends after this answer.
	Last bool `json:"last"`
}

// maxMessage bounds the JSON of a message, maxData the bytes after it.
const (
	maxMessage = 64 << 20
	maxData    = 1 << 30
)

var errMessage = errors.New("reader: a message is damaged")

// writeMessage writes a value with its length, and then data.
func writeMessage(to io.Writer, value any, data ...[]byte) error {
	doc, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("reader: marshalling a message: %w", err)
	}
	if _, err := to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(doc))), doc...)); err != nil {
		return err
	}
	for _, d := range data {
		if _, err := to.Write(d); err != nil {
			return err
		}
	}
	return nil
}

// readMessage reads a value that writeMessage wrote. io.EOF means that there is none.
func readMessage(from io.Reader, value any) error {
	var head [4]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxMessage {
		return errMessage
	}
	doc := make([]byte, size)
	if _, err := io.ReadFull(from, doc); err != nil {
		return errMessage
	}
	if err := json.Unmarshal(doc, value); err != nil {
		return errMessage
	}
	return nil
}

// readData reads the bytes after a message.
func readData(from io.Reader, size int64) ([]byte, error) {
	if size < 0 || size > maxData {
		return nil, errMessage
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(from, data); err != nil {
		return nil, errMessage
	}
	return data, nil
}
