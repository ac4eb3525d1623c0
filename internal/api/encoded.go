package api

import (
	"reflect"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
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

// pages holds the buffers of large answers between requests: a month of heart
// rates is four megabytes, and fresh memory costs as much as filling it.
var pages = sync.Pool{New: func() any { return new([]byte) }}

// largestPage is the largest buffer that is kept.
const largestPage = 16 << 20

// newPage is an empty buffer with room for size bytes.
func newPage(size int) *[]byte {
	page := pages.Get().(*[]byte)
	if cap(*page) < size {
		*page = make([]byte, 0, size)
	}
	*page = (*page)[:0]
	return page
}

// writePage is write for a buffer of newPage, which it gives back.
func writePage(page *[]byte) *written {
	return &written{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		ctx.SetHeader("Content-Length", strconv.Itoa(len(*page)))
		_, _ = ctx.BodyWriter().Write(*page) // a caller that hung up is nobody to tell
		if cap(*page) <= largestPage {
			pages.Put(page)
		}
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

func jsonOf[T any](a *API) map[string]*huma.MediaType {
	schema := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	return map[string]*huma.MediaType{"application/json": {Schema: schema}}
}
