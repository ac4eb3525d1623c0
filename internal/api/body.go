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

// decompress decodes compressed request bodies. The limits after it count the decoded
// bytes, so a small body cannot expand without limit.
func (a *API) decompress(next http.Handler) http.Handler {
	refuse := a.counted(func(w http.ResponseWriter, _ *http.Request) {
		WriteDetail(w, http.StatusUnsupportedMediaType, "Content-Encoding should be gzip, deflate or absent")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		encoding := strings.ToLower(r.Header.Get("Content-Encoding"))
		if encoding == "" || encoding == "identity" {
			next.ServeHTTP(w, r)
			return
		}
		open, known := decompressors[encoding]
		if !known {
			refuse(w, r)
			return
		}
		r.Body = &decompressedBody{source: r.Body, open: open}
		r.Header.Del("Content-Encoding")
		r.ContentLength = -1
		next.ServeHTTP(w, r)
	})
}

// decompressors decode a body, by Content-Encoding.
var decompressors = map[string]func(io.Reader) (io.Reader, error){"gzip": gunzip, "deflate": inflate}

func gunzip(from io.Reader) (io.Reader, error) {
	zip, err := gzip.NewReader(from)
	if err != nil {
		return nil, errors.New("api: the body is not gzip")
	}
	return zip, nil
}

// inflate decodes deflate, which in HTTP means the zlib format. Some programs send raw
// deflate data, as the name suggests. inflate detects them by the first bytes, which
// are not a zlib header.
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

// decompressedBody starts reading when the handler does.
type decompressedBody struct {
	source io.ReadCloser
	open   func(io.Reader) (io.Reader, error)
	body   io.Reader
}

func (u *decompressedBody) Read(p []byte) (int, error) {
	if u.body == nil {
		body, err := u.open(u.source)
		if err != nil {
			return 0, err
		}
		u.body = body
	}
	return u.body.Read(p)
}

func (u *decompressedBody) Close() error { return u.source.Close() }

// maxReadPause is the maximum pause between two reads of a body.
const maxReadPause = 2 * time.Minute

// extendReadDeadline lets a body take any total time, as long as data keeps arriving. It removes
// the read deadline when the body is complete. A deadline that remained on the
// connection would cancel the request's context while its handler runs.
func extendReadDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &deadlineBody{r.Body, http.NewResponseController(w)}
		}
		next.ServeHTTP(w, r)
	})
}

type deadlineBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read extends the deadline. Some servers do not support that, such as those behind a
// middleware with its own timeout. The error is ignored.
func (p *deadlineBody) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(time.Now().Add(maxReadPause))
	n, err := p.ReadCloser.Read(b)
	if err != nil {
		_ = p.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
