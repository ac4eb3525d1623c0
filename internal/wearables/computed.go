package wearables

import (
	"slices"
)

// ComputedMember is the member of a stored body that lists the fields that Hale computed
// from samples. Senders cannot set it, and reads do not return it. Only readers of this
// service set it in the body of a Summary.
const ComputedMember = "computed"

// ComputedFields returns the fields of a stored summary that Hale computed.
func ComputedFields(fields map[string]any) (names []string) {
	list, _ := fields[ComputedMember].([]any)
	for _, one := range list {
		if name, ok := one.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// SetComputed lists the fields of a summary that Hale computed, in place.
func SetComputed(fields map[string]any, names []string) {
	delete(fields, ComputedMember)
	if len(names) == 0 {
		return
	}
	list := make([]any, 0, len(names))
	for _, name := range slices.Sorted(slices.Values(names)) {
		list = append(list, name)
	}
	fields[ComputedMember] = list
}
