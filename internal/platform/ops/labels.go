package ops

import (
	"net/http"
	"strings"
)

// routeOf is a route template as a label. Both spellings of a path, with and
// without a slash at the end, count as one; what no route matched counts as
// unmatched, so that callers cannot make up label values.
func routeOf(template string) string {
	if len(template) > 1 {
		template = strings.TrimSuffix(template, "/")
	}
	if template == "" || strings.HasSuffix(template, "*") {
		return "unmatched"
	}
	return template
}

// methodOf returns a method as a label. Methods without a handler share one label.
func methodOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "OTHER"
}
