package routes_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hale/internal/api/calltest"
)

func packBody(t *testing.T, text string, open func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asGzip(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
func asZlib(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }

func asFlate(w io.Writer) io.WriteCloser {
	raw, _ := flate.NewWriter(w, flate.BestCompression) // the level is valid
	return raw
}

// Pushes may be compressed with gzip or deflate, which is the zlib format, or raw
// deflate data, which some programs send. The limits apply to the decompressed bytes.
func TestPackedBodies(t *testing.T) {
	eachCaller(t, func(d calltest.UserCaller) {
		path := d.Path("/v2/timeseries/{user_id}/heartrate")
		send := func(path, body, encoding string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
			r.Header.Set("x-service-api-key", d.Key)
			r.Header.Set("Content-Encoding", encoding)
			w := httptest.NewRecorder()
			d.API.ServeHTTP(w, r)
			return w
		}
		beats := calltest.PushText(calltest.Heartbeats(300))
		large := `{"client_user_id":"` + strings.Repeat("x", 40<<20) + `"}`
		for _, c := range []struct {
			name, encoding string
			open           func(io.Writer) io.WriteCloser
		}{
			{"gzip", "gzip", asGzip}, {"in capitals", "GZIP", asGzip}, {"deflate", "deflate", asZlib}, {"bare deflate", "Deflate", asFlate},
		} {
			whole := packBody(t, beats, c.open)
			if w := send(path, whole, c.encoding); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"rejected":[]`) {
				t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
			}
			if w := send(path, whole[:len(whole)/2], c.encoding); w.Code != http.StatusBadRequest && w.Code != http.StatusUnprocessableEntity {
				t.Errorf("half of %s: %d %s", c.name, w.Code, w.Body)
			}
			d.Status(http.StatusRequestEntityTooLarge, send("/v2/user", packBody(t, large, c.open), c.encoding))
		}
		for _, body := range []string{"", "x", "no deflate", "\x78\x9c", "\x78\x9cnothing"} {
			if w := send(path, body, "deflate"); w.Code != http.StatusBadRequest && w.Code != http.StatusUnprocessableEntity {
				t.Errorf("%q: %d %s", body, w.Code, w.Body)
			}
		}
		d.Status(http.StatusUnsupportedMediaType, send(path, beats, "br"))
		d.Status(http.StatusUnsupportedMediaType, send(path, beats, "gzip, deflate"))
	})
}
