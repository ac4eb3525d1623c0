package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
)

// pagingParameters lists the parameters that clients use to page. An operation refuses
// those that it does not have: a client that pages with an ignored parameter would read
// the first page again and again.
var pagingParameters = []string{
	"page", "size", "page_size", "per_page", "limit", "offset", "skip", "cursor", "next_cursor", "page_token",
	"after", "starting_after", "user_limit", "lab_test_limit",
}

// checkQuery refuses a query that checkedQuery refuses.
func (a *API) checkQuery(ctx huma.Context, next func(huma.Context)) {
	r, w := humachi.Unwrap(ctx)
	if err := checkedQuery(r, ctx.Operation()); err != nil {
		writeError(w, a.refusal(r.Context(), err))
		return
	}
	next(ctx)
}

// checkedQuery rewrites the query of a request as plainQuery does. It refuses paging
// parameters that the operation does not have.
func checkedQuery(r *http.Request, op *huma.Operation) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil { // net/url ignores a parameter with a semicolon
		before, _, _ := strings.Cut(r.URL.RawQuery, ";")
		name, _, _ := strings.Cut(before[strings.LastIndexByte(before, '&')+1:], "=")
		return fault.New(fault.Invalid, "Parameters should be separated by &, and a semicolon in a value should be %3B").At("query", name)
	}
	changed, err := plainQuery(query, op.Parameters)
	if err != nil {
		return err
	}
	reads := op.Metadata[metaReads] == true
	for _, written := range slices.Sorted(maps.Keys(query)) {
		name, _, _ := strings.Cut(written, "[")
		switch {
		case queryParameter(op.Parameters, name) != nil:
		case reads && slices.Contains(pagingParameters, name):
			return fault.New(fault.Invalid, "This operation has no such paging parameter").At("query", name).WithType("extra_forbidden")
		case op.Metadata[metaStrict] == true:
			return fault.New(fault.Invalid, "This operation has no such parameter").At("query", name).WithType("extra_forbidden")
		}
	}
	if changed {
		r.URL.RawQuery = query.Encode()
	}
	return nil
}

// queryParameter returns the declared parameter of a query with the name, nil for none.
func queryParameter(declared []*huma.Param, name string) *huma.Param {
	for _, p := range declared {
		if p.In == "query" && p.Name == name {
			return p
		}
	}
	return nil
}

// plainQuery writes a query as huma reads it, and reports whether that changed it. A list
// is name=a&name=b, name[]=a, name[0]=a or name=a,b; it becomes name=a&name=b. Any other
// parameter has one value, name=a or name[]=a. Parameters that are not declared stay.
func plainQuery(query url.Values, declared []*huma.Param) (changed bool, err error) {
	for _, written := range slices.Sorted(maps.Keys(query)) {
		name, index, bracketed := strings.Cut(written, "[")
		if !bracketed || queryParameter(declared, name) == nil {
			continue
		}
		index, closed := strings.CutSuffix(index, "]")
		if _, err := strconv.ParseUint(index, 10, 32); !closed || index != "" && err != nil {
			return false, fault.New(fault.Invalid, "Input should be written as name=value, name[]=value or name[0]=value").At("query", name)
		}
		query[name] = append(query[name], query[written]...)
		delete(query, written)
		changed = true
	}
	for _, p := range declared {
		values := query[p.Name]
		switch {
		case p.In != "query" || len(values) == 0:
		case p.Schema == nil || p.Schema.Type != huma.TypeArray:
			if len(values) > 1 {
				return false, fault.New(fault.Invalid, "Input should be a single value").At("query", p.Name).WithType("single_value")
			}
		default:
			members := splitList(values)
			if slices.Contains(members, "") {
				return false, fault.New(fault.Invalid, "Input should have no empty value").At("query", p.Name)
			}
			changed = changed || !slices.Equal(members, values)
			query[p.Name] = members
		}
	}
	return changed, nil
}

// splitList splits values at their commas.
func splitList(values []string) (members []string) {
	for _, value := range values {
		for member := range strings.SplitSeq(value, ",") {
			members = append(members, strings.Trim(member, " \t\n\f\r"))
		}
	}
	return members
}

// IDText is the id of a record in a list of a query. huma supports only text there.
type IDText string

// Schema declares a uuid.
func (IDText) Schema(r huma.Registry) *huma.Schema { return UUIDSchema{}.Schema(r) }

// ParseIDs parses the ids of a list parameter.
func ParseIDs[T any](name string, list []IDText) (all []ids.ID[T], err error) {
	for _, text := range list {
		id, err := ids.Parse[T](string(text))
		if err != nil {
			return nil, fault.New(fault.Invalid, "Input should be a valid UUID").At("query", name).WithType("uuid_parsing")
		}
		all = append(all, id)
	}
	return all, nil
}

// Words converts the words of a list parameter to those of a domain.
func Words[T, W ~string](list []W) (all []T) {
	for _, word := range list {
		all = append(all, T(word))
	}
	return all
}
