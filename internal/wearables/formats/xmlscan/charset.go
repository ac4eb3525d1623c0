package xmlscan

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrCharset means that a document has an unsupported encoding.
var ErrCharset = errors.New("unsupported encoding; use UTF-8, UTF-16 or ISO-8859-1")

// UTF8 returns a document in UTF-8. The byte order mark names its encoding, otherwise
// the XML declaration.
func UTF8(in io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(in, 4096)
	head, err := b.Peek(200)
	if err != nil && len(head) == 0 && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xFE\xFF")):
		return &runes{in: b, next: readUTF16(binary.BigEndian)}, nil
	case bytes.HasPrefix(head, []byte("\xFF\xFE")):
		return &runes{in: b, next: readUTF16(binary.LittleEndian)}, nil
	}
	switch strings.ToLower(declaredCharset(head)) {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return b, nil
	case "iso-8859-1", "iso8859-1", "latin1", "latin-1", "windows-1252", "cp1252", "iso-8859-15":
		return &runes{in: b, next: readLatin1}, nil
	}
	return nil, ErrCharset
}

// declaredCharset returns the encoding in the XML declaration, or "" if there is none.
func declaredCharset(head []byte) string {
	head = bytes.TrimPrefix(head, []byte("\uFEFF"))
	end := bytes.Index(head, []byte("?>"))
	if !bytes.HasPrefix(head, []byte("<?xml")) || end < 0 {
		return ""
	}
	_, rest, ok := bytes.Cut(head[:end], []byte("encoding"))
	rest = bytes.TrimLeft(rest, " \t\r\n=")
	if !ok || len(rest) < 2 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	value, _, _ := bytes.Cut(rest[1:], rest[:1])
	return string(value)
}

// runes converts characters of another encoding to UTF-8.
type runes struct {
	in   *bufio.Reader
	next func(*bufio.Reader) (rune, error)
	rest []byte
}

func (r *runes) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.rest) == 0 {
			c, err := r.next(r.in)
			if err != nil {
				if n > 0 {
					return n, nil
				}
				return 0, err
			}
			r.rest = utf8.AppendRune(r.rest[:0], c)
		}
		k := copy(p[n:], r.rest)
		n, r.rest = n+k, r.rest[k:]
	}
	return n, nil
}

// readLatin1 reads ISO-8859-1, whose bytes are the first characters of Unicode. Related
// encodings differ in a few characters that no measurement has.
func readLatin1(in *bufio.Reader) (rune, error) {
	c, err := in.ReadByte()
	return rune(c), err
}

// readUTF16 reads UTF-16.
func readUTF16(order binary.ByteOrder) func(*bufio.Reader) (rune, error) {
	unit := func(in *bufio.Reader) (rune, error) {
		var two [2]byte
		if _, err := io.ReadFull(in, two[:]); err != nil {
			return 0, err
		}
		return rune(order.Uint16(two[:])), nil
	}
	return func(in *bufio.Reader) (rune, error) {
		c, err := unit(in)
		if err != nil || !utf16.IsSurrogate(c) {
			return c, err
		}
		low, err := unit(in)
		return utf16.DecodeRune(c, low), err
	}
}
