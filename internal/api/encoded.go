package api

import (
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"hale/internal/wearables"
)

// written is an answer that the handler encoded itself. A month of heart
// rates is 43,200 objects, which append-style code writes in two milliseconds.
type written struct {
	Body func(huma.Context)
}

// write answers with JSON text.
func write(text []byte) *written {
	return &written{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		_, _ = ctx.BodyWriter().Write(text) // a caller that hung up is nobody to tell
	}}
}

// chunk is how much of a large answer is encoded before it is sent on.
const chunk = 64 << 10

var chunks = sync.Pool{New: func() any { b := make([]byte, 0, chunk+4096); return &b }}

// flowing answers with text that goes out while it is encoded: a month of
// heart rates is four megabytes, which the caller can read meanwhile and we
// need not hold. Nothing may fail any more once it is called.
func flowing(encode func(dst []byte, spill wearables.Spill) []byte) *written {
	return &written{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		w := ctx.BodyWriter()
		buf := chunks.Get().(*[]byte)
		rest := encode((*buf)[:0], func(dst []byte) []byte {
			if len(dst) < chunk {
				return dst
			}
			_, _ = w.Write(dst) // a caller that hung up is nobody to tell
			return dst[:0]
		})
		_, _ = w.Write(rest)
		*buf = rest
		chunks.Put(buf)
	}}
}

// writes documents the answer of a handler that returns written: it has the
// shape of T.
func writes[T any](rt route) route {
	add := rt.add
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		op.Responses["200"] = &huma.Response{Description: "OK", Content: jsonOf[T](a)}
		add(a, r, op)
	}
	return rt
}

// takes documents the body of a handler that parses it itself.
func takes[T any](rt route) route {
	add := rt.add
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		op.RequestBody = &huma.RequestBody{Required: true, Content: jsonOf[T](a)}
		add(a, r, op)
		delete(op.RequestBody.Content, "application/octet-stream") // huma's word for any raw body
	}
	return rt
}

// appended is a part of an answer that is written as text of the shape of T.
type appended[T any] []byte

// MarshalJSON gives the text.
func (text appended[T]) MarshalJSON() ([]byte, error) { return text, nil }

// Schema says what the text is.
func (appended[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

func jsonOf[T any](a *API) map[string]*huma.MediaType {
	schema := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	return map[string]*huma.MediaType{"application/json": {Schema: schema}}
}
