package xmlscan

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// The window holds one mebibyte of a document. A tag must fit in maxTag bytes, and a
// DOCTYPE in the window.
const (
	windowSize = 1 << 20
	maxTag     = 64 << 10
)

// These errors mean that the rest of a document cannot be read.
var (
	errTagTooLong = errors.New("a tag is longer than 64 KiB")
	errDoctype    = errors.New("the DOCTYPE is too long or has no end")
)

// Kind distinguishes the three forms of a tag.
type Kind uint8

// An Opening tag has a Closing one later; an Empty one, such as <Me/>, has none.
const (
	Opening Kind = iota
	Closing
	Empty
)

// Attr is one attribute as in the file. Its entities are not decoded.
type Attr struct {
	Name, Value []byte
}

// Tag is one tag of the document. Its bytes are valid until the next call of
// Scanner.Next.
type Tag struct {
	Kind  Kind
	Name  []byte
	Attrs []Attr
}

// Scanner finds the tags of an XML document in one pass without allocating.
//
// It is not a validating parser: it skips text between tags, comments, processing
// instructions, CDATA and the DOCTYPE, and leaves nesting to the caller. A malformed
// tag is counted and skipped, because one damaged record must not cost the ten million
// others. Callers that need text use Text.
type Scanner struct {
	in    io.Reader
	buf   []byte
	pos   int   // next byte to look at
	end   int   // end of the bytes that were read
	base  int64 // bytes of the file before buf[0]
	ended error // the last error of the reader: io.EOF or a failure
	tag   Tag

	// Damaged counts tags that were not well formed.
	Damaged int64
}

// New returns a scanner over in, with a window of one mebibyte.
func New(in io.Reader) *Scanner { return NewSize(in, windowSize) }

// NewSize returns a scanner over in, with a window of the given size in bytes. The window
// must have at least 64 KiB.
func NewSize(in io.Reader, window int) *Scanner {
	return &Scanner{in: in, buf: make([]byte, window), tag: Tag{Attrs: make([]Attr, 0, 32)}}
}

// Offset returns the number of bytes before the current position.
func (s *Scanner) Offset() int64 { return s.base + int64(s.pos) }

// Next returns the next tag. At the end of the file the error is io.EOF; when
// the file ends inside a tag it is io.ErrUnexpectedEOF.
func (s *Scanner) Next() (*Tag, error) {
	for {
		if err := s.find('<'); err != nil {
			return nil, err
		}
		if err := s.need(2); err != nil {
			return nil, err
		}
		var err error
		switch s.buf[s.pos+1] {
		case '?':
			err = s.skipPast("?>", 2)
		case '!':
			err = s.skipDeclaration()
		default:
			var ok bool
			if ok, err = s.readTag(); ok {
				return &s.tag, nil
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// find moves to the next byte c.
func (s *Scanner) find(c byte) error {
	for {
		if i := bytes.IndexByte(s.buf[s.pos:s.end], c); i >= 0 {
			s.pos += i
			return nil
		}
		s.pos = s.end
		if err := s.fill(); err != nil {
			return err
		}
	}
}

// need makes sure that n bytes from the position on are in the window.
func (s *Scanner) need(n int) error {
	for s.end-s.pos < n {
		if err := s.fill(); err != nil {
			return truncatedError(err)
		}
	}
	return nil
}

// fill reads more, after it moved the unread bytes to the start of the window.
func (s *Scanner) fill() error {
	if s.ended != nil {
		return s.ended
	}
	if s.pos > 0 {
		s.base += int64(s.pos)
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	for range 100 {
		n, err := s.in.Read(s.buf[s.end:])
		s.end += n
		s.ended = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	s.ended = io.ErrNoProgress
	return s.ended
}

// truncatedError returns the error for a document that ends in the middle of a token.
func truncatedError(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readTag reads the tag at the position. ok is false when it was damaged and
// skipped.
func (s *Scanner) readTag() (ok bool, err error) {
	for {
		window := s.buf[s.pos:s.end]
		n, state := parseTag(&s.tag, window)
		switch state {
		case tagComplete:
			s.pos += n
			return true, nil
		case tagDamaged:
			s.Damaged++
			s.pos += n
			return false, nil
		case tagCut: // more of it may follow
		}
		if len(window) > maxTag {
			return false, s.giveUp(window[:maxTag])
		}
		if err := s.fill(); err != nil {
			return false, s.unfinished(err)
		}
	}
}

// giveUp skips an endless tag when another one starts inside it.
func (s *Scanner) giveUp(tag []byte) error {
	next := bytes.IndexByte(tag[1:], '<')
	if next < 0 {
		return errTagTooLong
	}
	s.Damaged++
	s.pos += 1 + next
	return nil
}

// unfinished handles a tag that reaches the end of the file. An unclosed quote
// may have swallowed the tags after it.
func (s *Scanner) unfinished(err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	if next := bytes.IndexByte(s.buf[s.pos+1:s.end], '<'); next >= 0 {
		s.Damaged++
		s.pos += 1 + next
		return nil
	}
	return io.ErrUnexpectedEOF
}

// cdata starts text without markup.
const cdata = "<![CDATA["

// skipDeclaration skips <!-- -->, <![CDATA[ ]]> and <!DOCTYPE >.
func (s *Scanner) skipDeclaration() error {
	if err := s.need(4); err != nil {
		return err
	}
	if string(s.buf[s.pos:s.pos+4]) == "<!--" {
		return s.skipPast("-->", 4)
	}
	if s.buf[s.pos+2] == '[' {
		if err := s.need(len(cdata)); err != nil {
			return err
		}
		return s.skipPast("]]>", len(cdata))
	}
	return s.skipDoctype()
}

// skipPast moves behind the next mark, which begins at least skip bytes after the
// position.
func (s *Scanner) skipPast(mark string, skip int) error {
	s.pos += skip
	for {
		if i := bytes.Index(s.buf[s.pos:s.end], []byte(mark)); i >= 0 {
			s.pos += i + len(mark)
			return nil
		}
		if keep := len(mark) - 1; s.end-s.pos > keep {
			s.pos = s.end - keep
		}
		if err := s.fill(); err != nil {
			return truncatedError(err)
		}
	}
}

// skipDoctype skips the DOCTYPE with its internal subset. Some releases of the Health app
// write a DTD that is not well formed, so skipDoctype only looks at brackets, comments
// and quotes.
func (s *Scanner) skipDoctype() error {
	for {
		if n := doctypeEnd(s.buf[s.pos:s.end]); n > 0 {
			s.pos += n
			return nil
		}
		if s.end-s.pos == len(s.buf) {
			return errDoctype
		}
		if err := s.fill(); err != nil {
			return truncatedError(err)
		}
	}
}

// Text returns the text between the last tag and the next one, if the window holds all
// of it. It is valid until the next call of Next.
func (s *Scanner) Text() []byte {
	for {
		if i := bytes.IndexByte(s.buf[s.pos:s.end], '<'); i >= 0 {
			return s.buf[s.pos : s.pos+i]
		}
		if s.end-s.pos > maxTag || s.fill() != nil {
			return nil
		}
	}
}

// ahead reads until n bytes are in the window or the input ends. It reports an error
// when that place is reached.
func (s *Scanner) ahead(n int) {
	for s.end-s.pos < n && s.ended == nil {
		_ = s.fill()
	}
}

// PeekText returns the text between the last tag and the next one, or the CDATA there.
// The text is decoded and has no surrounding spaces. It is empty if it is longer than
// the window. The tag stays valid.
func (s *Scanner) PeekText() string {
	window := s.buf[s.pos:s.end]
	i := bytes.IndexByte(window, '<')
	if i < 0 {
		return ""
	}
	if text := strings.TrimSpace(Unescape(window[:i])); text != "" {
		return text
	}
	if data, is := bytes.CutPrefix(window[i:], []byte(cdata)); is {
		if text, _, whole := bytes.Cut(data, []byte("]]>")); whole {
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}

// IsCut reports whether an error means that the document ends early, rather than that
// reading failed.
func IsCut(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errTagTooLong) || errors.Is(err, errDoctype) || errors.Is(err, errDepth)
}
