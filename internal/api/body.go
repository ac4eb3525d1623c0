package api

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// decompress opens packed request bodies. The limits that follow count what
// comes out, so a small body cannot grow without bound.
func decompress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		encoding := strings.ToLower(r.Header.Get("Content-Encoding"))
		if encoding == "" || encoding == "identity" {
			next.ServeHTTP(w, r)
			return
		}
		open, known := unpackers[encoding]
		if !known {
			WriteDetail(w, http.StatusUnsupportedMediaType, "Content-Encoding should be gzip, deflate or absent")
			return
		}
		r.Body = &unpacked{from: r.Body, open: open}
		r.Header.Del("Content-Encoding")
		r.ContentLength = -1
		next.ServeHTTP(w, r)
	})
}

// unpackers open a body by its Content-Encoding.
var unpackers = map[string]func(io.Reader) (io.Reader, error){"gzip": gunzip, "deflate": inflate}

func gunzip(from io.Reader) (io.Reader, error) {
	zip, err := gzip.NewReader(from)
	if err != nil {
		return nil, errors.New("api: the body is not gzip")
	}
	return zip, nil
}

// inflate opens deflate, which in HTTP is zlib's format. Some programs send the
// bare compressed data that the name suggests; its first bytes are told from a
// header of zlib.
//
// RFC 9110, 8.4.1.2. RFC 1950, 2.2.
func inflate(from io.Reader) (io.Reader, error) {
	body := bufio.NewReader(from)
	head, err := body.Peek(2)
	if err != nil {
		return nil, errors.New("api: the body is not deflate")
	}
	if head[0]&0x0f != 8 || (uint(head[0])<<8|uint(head[1]))%31 != 0 {
		return flate.NewReader(body), nil
	}
	zip, err := zlib.NewReader(body)
	if err != nil {
		return nil, errors.New("api: the body is not deflate")
	}
	return zip, nil
}

// unpacked starts reading only when the handler does.
type unpacked struct {
	from io.ReadCloser
	open func(io.Reader) (io.Reader, error)
	body io.Reader
}

func (u *unpacked) Read(p []byte) (int, error) {
	if u.body == nil {
		body, err := u.open(u.from)
		if err != nil {
			return 0, err
		}
		u.body = body
	}
	return u.body.Read(p)
}

func (u *unpacked) Close() error { return u.from.Close() }

// longestPause is how long a body may pause.
const longestPause = 2 * time.Minute

// patient reads a body for as long as it keeps coming, however long that is,
// and keeps no time once it is there: a deadline that stayed on the connection
// would end the request's context while the request is carried out.
func patient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &patientBody{r.Body, http.NewResponseController(w)}
		}
		next.ServeHTTP(w, r)
	})
}

type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read moves the deadline. Servers in front of which something else keeps time
// may refuse that; it is their choice.
func (p *patientBody) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(time.Now().Add(longestPause))
	n, err := p.ReadCloser.Read(b)
	if err != nil {
		_ = p.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
