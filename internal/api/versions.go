package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Users and orders have versions. The answer that contains one names its version in
// ETag. A caller that has read a version may require with If-Match that it is still the
// current one before a change. With If-None-Match it reads the record only if the
// version has changed.
//
// The tag is a digest of the record in the answer. So it changes with every field that
// callers see, including fields of other tables such as the connections of a user.
//
// Source: RFC 9110, 8.8.3 and 13.

const (
	tagHeader         = "ETag"
	ifMatchHeader     = "If-Match"
	ifNoneMatchHeader = "If-None-Match"
)

// Versioned is a body that contains a record with versions.
type Versioned interface {
	// Version returns the record without the parts that differ between answers, such as
	// links with an expiry. nil means no record.
	Version() any
}

// CurrentVersion returns the version of the record that the path names, as Version
// does. It locks the record until the transaction ends.
type CurrentVersion func(ctx context.Context, tx *store.Tx, c Caller, r *http.Request) (any, error)

// Conditional makes the operation accept If-Match and If-None-Match for the record that
// it changes.
func (rt Route) Conditional(current CurrentVersion) Route { rt.current = current; return rt }

// tagOfVersion returns the entity tag of a version.
func tagOfVersion(version any) (string, error) {
	text, err := json.Marshal(version)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(text)
	return `"` + base64.RawURLEncoding.EncodeToString(digest[:18]) + `"`, nil
}

// entityTagOf returns the entity tag of a body, "" if it has no version.
func entityTagOf(body any) (string, error) {
	v, ok := body.(Versioned)
	if !ok {
		return "", nil
	}
	version := v.Version()
	if version == nil {
		return "", nil
	}
	return tagOfVersion(version)
}

// addTag sets ETag if the body has a version. It is a transformer of huma and does not
// change the body.
func addTag(ctx huma.Context, _ string, body any) (any, error) {
	tag, err := entityTagOf(body)
	if tag != "" {
		ctx.SetHeader(tagHeader, tag)
	}
	return body, err
}

// hasVersion reports whether the output of an operation contains a record with
// versions.
func hasVersion(out reflect.Type) bool {
	body, ok := out.FieldByName("Body")
	return ok && body.Type.Implements(reflect.TypeFor[Versioned]())
}

// condition is the value of If-Match or If-None-Match: any version, or some tags.
type condition struct {
	any  bool
	tags []string // with quotes; weak ones with W/
}

// parseCondition parses a header. It returns nil if the request does not have it.
func parseCondition(h http.Header, name string) (*condition, error) {
	lines := h.Values(name)
	if len(lines) == 0 {
		return nil, nil
	}
	text := strings.Trim(strings.Join(lines, ","), ", \t") // a list may have empty elements
	if text == "*" {
		return &condition{any: true}, nil
	}
	c := &condition{}
	for text != "" {
		tag, rest, ok := cutTag(text)
		if !ok {
			return nil, fault.New(fault.Invalid, `Input should be * or a list of entity tags in quotes, such as "abc"`).At("header", name)
		}
		c.tags = append(c.tags, tag)
		if text = strings.TrimLeft(rest, " \t"); text == "" {
			break
		}
		if text[0] != ',' {
			return nil, fault.New(fault.Invalid, "Input should have a comma between entity tags").At("header", name)
		}
		text = strings.TrimLeft(text, ", \t")
	}
	if len(c.tags) == 0 {
		return nil, fault.New(fault.Invalid, "Input should have an entity tag").At("header", name)
	}
	return c, nil
}

// cutTag cuts the entity tag at the start of a text.
func cutTag(text string) (tag, rest string, ok bool) {
	start := 0
	if strings.HasPrefix(text, "W/") {
		start = 2
	}
	if len(text) <= start || text[start] != '"' {
		return "", "", false
	}
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return text[:i+1], text[i+1:], true
		case c < 0x21 || c == 0x7f: // spaces and control characters
			return "", "", false
		}
	}
	return "", "", false
}

// matches reports whether the condition names a tag. A weak tag counts only if weak is
// set: If-Match needs the exact version.
func (c *condition) matches(tag string, weak bool) bool {
	return c.any || slices.ContainsFunc(c.tags, func(t string) bool {
		return t == tag || weak && strings.TrimPrefix(t, "W/") == tag
	})
}

// conditions are both headers of a request.
type conditions struct{ match, noneMatch *condition }

func conditionsOf(h http.Header) (c conditions, err error) {
	if c.match, err = parseCondition(h, ifMatchHeader); err != nil {
		return c, err
	}
	c.noneMatch, err = parseCondition(h, ifNoneMatchHeader)
	return c, err
}

// allow reports whether a change of a version may happen.
func (c conditions) allow(tag string) bool {
	return (c.match == nil || c.match.matches(tag, false)) && (c.noneMatch == nil || !c.noneMatch.matches(tag, true))
}

// errChanged refuses a change whose condition does not hold.
var errChanged = fault.New(fault.Changed, "The record has changed since you read this version; read it again")

// conditional applies the conditions of a request. Other operations ignore them in
// reads and refuse If-Match in changes, because the caller relies on it.
func (a *API) conditional(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header[ifMatchHeader] == nil && r.Header[ifNoneMatchHeader] == nil {
			next.ServeHTTP(w, r)
			return
		}
		name := requestName(r)
		current, reads := a.currents[name], r.Method == http.MethodGet || r.Method == http.MethodHead
		if current == nil && !(reads && a.tagged[name]) {
			if !reads && r.Header[ifMatchHeader] != nil {
				writeError(w, a.refusal(r.Context(), fault.New(fault.Invalid, "This operation does not take If-Match").At("header", ifMatchHeader)))
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		if !reads && !a.creates[name] && idempotencyKey(r) != "" { // a repeat would fail at the condition
			err := fault.New(fault.Invalid, "This operation does not take "+idempotencyHeader+" with "+ifMatchHeader+" or "+ifNoneMatchHeader)
			writeError(w, a.refusal(r.Context(), err.At("header", idempotencyHeader)))
			return
		}
		c, err := conditionsOf(r.Header)
		switch {
		case err != nil:
			writeError(w, a.refusal(r.Context(), err))
		case reads:
			next.ServeHTTP(&conditionalAnswer{ResponseWriter: w, conditions: c}, r)
		default:
			next.ServeHTTP(w, r.WithContext(a.withCondition(r, c, current)))
		}
	})
}

// withCondition returns a context whose first transaction with a change checks the
// conditions before it changes anything.
func (a *API) withCondition(r *http.Request, c conditions, current CurrentVersion) context.Context {
	ctx, held := r.Context(), false
	return store.WithExtraWrite(ctx, func(tx *store.Tx) error {
		if held { // a later transaction of the request, which has changed the record itself
			return nil
		}
		version, err := current(ctx, tx, CallerOf(ctx), r)
		if err != nil {
			return err
		}
		tag, err := tagOfVersion(version)
		if err != nil {
			return err
		}
		if !c.allow(tag) {
			return errChanged
		}
		tx.AfterCommit(func() { held = true })
		return nil
	})
}

// conditionalAnswer turns the answer to a read into 304 or 412 if its conditions say
// so.
type conditionalAnswer struct {
	http.ResponseWriter
	conditions conditions
	started    bool
	replaced   bool // the body is omitted
}

// Unwrap returns the writer for http.ResponseController.
func (w *conditionalAnswer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *conditionalAnswer) WriteHeader(status int) {
	w.started = true
	tag := w.Header().Get(tagHeader)
	if status != http.StatusOK || tag == "" || w.conditions.allow(tag) {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.replaced = true
	if m := w.conditions.match; m != nil && !m.matches(tag, false) {
		w.Header().Del(tagHeader)
		writeError(w.ResponseWriter, &refusal{status: http.StatusPreconditionFailed, detail: errChanged.Message()})
		return
	}
	w.Header().Del("Content-Type")
	w.ResponseWriter.WriteHeader(http.StatusNotModified)
}

func (w *conditionalAnswer) Write(p []byte) (int, error) {
	if !w.started {
		w.WriteHeader(http.StatusOK)
	}
	if w.replaced {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// documentVersions describes the headers in the OpenAPI document.
func (rt *Route) documentVersions(op *huma.Operation) {
	text := &huma.Schema{Type: huma.TypeString}
	reads := op.Method == http.MethodGet
	if rt.tagged {
		rt.headers = maps.Clone(rt.headers)
		if rt.headers == nil {
			rt.headers = map[string]*huma.Param{}
		}
		rt.headers[tagHeader] = &huma.Param{Description: "The version of the record, for If-Match and If-None-Match.", Schema: text}
	}
	if rt.current == nil && (!reads || !rt.tagged) {
		return
	}
	match := huma.Param{Name: ifMatchHeader, In: "header", Schema: text, Description: "ETag of a version: 412 if the record has another one."}
	noneMatch := huma.Param{Name: ifNoneMatchHeader, In: "header", Schema: text, Description: "ETag of a version: 412 if the record has it."}
	if reads {
		noneMatch.Description = "ETag of a version: 304 without a body if the record still has it."
		op.Responses["304"] = &huma.Response{Description: "The record still has the version in If-None-Match."}
	}
	op.Parameters = append(op.Parameters, &match, &noneMatch)
	op.Responses["412"] = JSONResponse("The record has another version than the request requires. Nothing changed.", "ErrorBody")
}

// eventNumberHeader has the number of an event in every answer to a read, also one with
// the method POST. The answer contains the changes of all events up to it. It may contain later ones too.
const eventNumberHeader = "X-Hale-Event-Seq"

// numberReads sets the header, in answers to HEAD too. It reads the number before the
// handler reads anything.
func (a *API) numberReads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := CallerOf(r.Context()); a.reads[requestName(r)] && !c.Team.IsZero() {
			n, err := events.LatestNumber(r.Context(), a.DB, c.Team.UUID())
			if err != nil {
				writeError(w, a.refusal(r.Context(), err))
				return
			}
			w.Header().Set(eventNumberHeader, strconv.FormatInt(n, 10))
		}
		next.ServeHTTP(w, r)
	})
}
