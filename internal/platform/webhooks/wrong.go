package webhooks

import (
	"errors"

	"hale/internal/platform/fault"
)

// at names the body field that a rule's fault is about.
func at(err error, field string) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.At("body", field)
	}
	return err
}

// together joins the faults of several fields into one answer; an error that
// is not a caller's fault comes first and alone.
func together(errs ...error) error {
	var all []*fault.Error
	for _, err := range errs {
		var one *fault.Error
		var list fault.List
		switch {
		case err == nil:
		case errors.As(err, &list):
			all = append(all, list...)
		case errors.As(err, &one):
			all = append(all, one)
		default:
			return err
		}
	}
	return fault.Join(all...)
}
