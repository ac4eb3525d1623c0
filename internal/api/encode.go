package api

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"hale/internal/wearables"
)

// Encoded is an answer that the handler encoded itself. A month of heart rates is
// 43,200 objects, which append-style code encodes in two milliseconds.
type Encoded struct {
	Body func(huma.Context)
}

// WriteJSON returns JSON text as the answer.
func WriteJSON(text []byte) *Encoded {
	return &Encoded{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		_, _ = ctx.BodyWriter().Write(text) // the caller may have disconnected
	}}
}

// chunk is the size of a part of a large answer that is sent while encoding continues.
const chunk = 64 << 10

var chunks = sync.Pool{New: func() any { b := make([]byte, 0, chunk+4096); return &b }}

// StreamJSON returns an answer that is sent while it is encoded. A month of heart rates
// is four megabytes; the caller can read meanwhile, and we need not buffer it. After
// the call, errors cannot be reported any more.
func StreamJSON(encode func(dst []byte, spill wearables.Spill) []byte) *Encoded {
	return &Encoded{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		w := ctx.BodyWriter()
		buf := chunks.Get().(*[]byte)
		rest := encode((*buf)[:0], func(dst []byte) []byte {
			if len(dst) < chunk {
				return dst
			}
			_, _ = w.Write(dst) // the caller may have disconnected
			return dst[:0]
		})
		_, _ = w.Write(rest)
		*buf = rest
		chunks.Put(buf)
	}}
}

// Writes documents the answer of a handler that returns Encoded: it has the shape of T.
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
		delete(op.RequestBody.Content, "application/octet-stream") // huma's default for raw bodies
	}
	return rt
}

// JSONText is a part of an answer that is already JSON text, with the shape of T.
type JSONText[T any] []byte

// MarshalJSON returns the text.
func (text JSONText[T]) MarshalJSON() ([]byte, error) { return text, nil }

// Schema returns the schema of T.
func (JSONText[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

func jsonOf[T any](a *API) map[string]*huma.MediaType {
	schema := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	return map[string]*huma.MediaType{"application/json": {Schema: schema}}
}

// WritesAs documents the answer of a handler that returns Encoded in another format.
func WritesAs(rt Route, contentType string, schema *huma.Schema) Route {
	add := rt.add
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		op.Responses["200"] = &huma.Response{Description: "OK", Content: map[string]*huma.MediaType{contentType: {Schema: schema}}}
		add(a, r, op)
	}
	return rt
}

// WriteAs returns bytes of a content type as the answer.
func WriteAs(contentType string, body []byte) *Encoded {
	return &Encoded{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", contentType)
		_, _ = ctx.BodyWriter().Write(body) // the caller may have disconnected
	}}
}

// StreamFile returns a file as the answer, which is sent while it is written. An error
// breaks the connection, so that the caller does not mistake a part for the whole.
func (a *API) StreamFile(contentType string, write func(ctx context.Context, w io.Writer) error) *Encoded {
	return &Encoded{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", contentType)
		if err := write(ctx.Context(), ctx.BodyWriter()); err != nil {
			_ = a.refusal(ctx.Context(), err) // logs the error
			panic(http.ErrAbortHandler)
		}
	}}
}

// AlsoWrites documents a second format of an answer.
func AlsoWrites(contentType string, rt Route) Route {
	add := rt.add
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		op.Responses["200"].Content[contentType] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		add(a, r, op)
	}
	return rt
}
