package api

import (
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"hale/internal/wearables"
)

// Encoded is an answer that the handler encoded itself. A month of heart
// rates is 43,200 objects, which append-style code writes in two milliseconds.
type Encoded struct {
	Body func(huma.Context)
}

// WriteJSON answers with JSON text.
func WriteJSON(text []byte) *Encoded {
	return &Encoded{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		_, _ = ctx.BodyWriter().Write(text) // a caller that hung up is nobody to tell
	}}
}

// chunk is how much of a large answer is encoded before it is sent on.
const chunk = 64 << 10

var chunks = sync.Pool{New: func() any { b := make([]byte, 0, chunk+4096); return &b }}

// StreamJSON answers with text that goes out while it is encoded: a month of
// heart rates is four megabytes, which the caller can read meanwhile and we
// need not hold. Nothing may fail any more once it is called.
func StreamJSON(encode func(dst []byte, spill wearables.Spill) []byte) *Encoded {
	return &Encoded{func(ctx huma.Context) {
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

// Writes documents the answer of a handler that returns written: it has the
// shape of T.
func Writes[T any](rt Route) Route {
	add := rt.add
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		op.Responses["200"] = &huma.Response{Description: "OK", Content: jsonOf[T](a)}
		add(a, r, op)
	}
	return rt
}

// Takes documents the body of a handler that parses it itself.
func Takes[T any](rt Route) Route {
	add := rt.add
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		op.RequestBody = &huma.RequestBody{Required: true, Content: jsonOf[T](a)}
		add(a, r, op)
		delete(op.RequestBody.Content, "application/octet-stream") // huma's word for any raw body
	}
	return rt
}

// JSONText is a part of an answer that is written as text of the shape of T.
type JSONText[T any] []byte

// MarshalJSON gives the text.
func (text JSONText[T]) MarshalJSON() ([]byte, error) { return text, nil }

// Schema says what the text is.
func (JSONText[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

func jsonOf[T any](a *API) map[string]*huma.MediaType {
	schema := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	return map[string]*huma.MediaType{"application/json": {Schema: schema}}
}

// WritesAs documents the answer of a handler that returns written.
func WritesAs(rt Route, contentType string, schema *huma.Schema) Route {
	add := rt.add
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		op.Responses["200"] = &huma.Response{Description: "OK", Content: map[string]*huma.MediaType{contentType: {Schema: schema}}}
		add(a, r, op)
	}
	return rt
}

// WriteAs answers with bytes of a type.
func WriteAs(contentType string, body []byte) *Encoded {
	return &Encoded{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", contentType)
		_, _ = ctx.BodyWriter().Write(body) // a caller that hung up is nobody to tell
	}}
}

// AlsoWrites documents the second form of an answer that writes documents.
func AlsoWrites(contentType string, rt Route) Route {
	add := rt.add
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		op.Responses["200"].Content[contentType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		add(a, r, op)
	}
	return rt
}
