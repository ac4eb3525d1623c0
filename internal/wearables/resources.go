package wearables

import (
	"slices"
	"strings"

	"hale/internal/wearables/resources"
)

//go:generate go test ./ -run TestResourcesPage -update

// Resource is one kind of time series, with methods to write its samples. The table
// is in package resources.
type Resource struct{ resources.Resource }

// Extra is a field of samples with one of a few words, or null.
type Extra = resources.Extra

// NoteResource names the time series of texts and its document, ProfileResource
// the summary of a person.
const (
	NoteResource    = "note"
	ProfileResource = "profile"
)

var resourceTable = func() (all []Resource) {
	for _, r := range resources.List() {
		all = append(all, Resource{r})
	}
	return all
}()

var resourcesByName = func() map[string]*Resource {
	byName := map[string]*Resource{}
	for i := range resourceTable {
		r := &resourceTable[i]
		byName[r.Name], byName[r.Event] = r, r
	}
	return byName
}()

// Resources lists every kind of time series, in the order of the reference.
func Resources() []Resource { return slices.Clone(resourceTable) }

// ResourceNamed finds a kind of time series by its path segment or by its
// name in events.
func ResourceNamed(name string) (*Resource, bool) {
	r, ok := resourcesByName[name]
	return r, ok
}

// KeepsData reports whether a resource, by its name in events, is stored and can have
// a history.
func KeepsData(resource string) bool {
	return KnownResource(resource) && resource != resources.Hypnogram
}

// StoredResources lists the names of the resources that can have a history.
func StoredResources() []string {
	var all []string
	for _, r := range resourceTable {
		if KeepsData(r.Name) {
			all = append(all, r.Name)
		}
	}
	for _, d := range documents {
		if !slices.Contains(all, d.Name) { // a note is both
			all = append(all, d.Name)
		}
	}
	return append(all, WorkoutStream)
}

// KnownResource reports whether a name is that of a series, a summary or a stream.
func KnownResource(resource string) bool {
	_, series := ResourceNamed(resource)
	_, document := DocumentNamed(resource)
	return series || document || resource == WorkoutStream
}

// EventName returns the resource's name in event types.
func EventName(resource string) string {
	if r, ok := ResourceNamed(resource); ok {
		return r.Event
	}
	return resource
}

// Samples of some resources have further fields with words: where a thermometer was,
// the purpose of an injection. All samples of a series share them, as they share its
// type. They are stored as one text: the words in the order of the resource's table,
// separated by commas; empty without any.
//
// Reference 7.7.

// ExtraText returns the text of words, one for each field of the resource in the order
// of the table. An empty word means null.
func ExtraText[T string | []byte](words ...T) string {
	text, empty := []byte(nil), true
	for i, word := range words {
		if i > 0 {
			text = append(text, ',')
		}
		text, empty = append(text, word...), empty && len(word) == 0
	}
	if empty {
		return ""
	}
	return string(text)
}

// ExtraWord returns the word of a field in a text; empty if there is none.
func (r *Resource) ExtraWord(text, field string) string {
	words := strings.Split(text, ",")
	for i := range min(len(words), len(r.Extra)) {
		if r.Extra[i].Name == field {
			return words[i]
		}
	}
	return ""
}

// AppendExtra appends the fields of a text to an object.
func (r *Resource) AppendExtra(dst []byte, text string) []byte {
	for _, e := range r.Extra {
		dst = append(AppendText(append(dst, ','), e.Name), ':')
		dst = AppendTextOrNull(dst, r.ExtraWord(text, e.Name))
	}
	return dst
}
