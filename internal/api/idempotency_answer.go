package api

import (
	"bytes"
	"net/http"
)

// answerBuffer holds an answer until it is stored.
type answerBuffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (b *answerBuffer) Header() http.Header         { return b.header }
func (b *answerBuffer) WriteHeader(status int)      { b.status = status }
func (b *answerBuffer) Write(p []byte) (int, error) { return b.body.Write(p) }

func (b *answerBuffer) writeTo(w http.ResponseWriter) {
	for name, values := range b.header {
		w.Header()[name] = values
	}
	w.WriteHeader(b.status)
	_, _ = w.Write(b.body.Bytes())
}

func (b *answerBuffer) replay(w http.ResponseWriter) {
	w.Header().Set(replayedHeader, "true")
	b.writeTo(w)
}
