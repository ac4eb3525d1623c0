package events

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
)

// Type is a kind of event.
type Type struct {
	Name     string
	Sentence string
	// Example gives a payload (the `data` of the envelope) with invented values,
	// about the given user.
	Example func(user uuid.UUID) json.RawMessage
}

var catalogue = struct {
	sync.RWMutex
	types map[string]Type
}{types: map[string]Type{}}

// Define adds types to the catalogue. A domain that gives a type a truer
// example may define it once more; the later definition counts.
func Define(types ...Type) {
	catalogue.Lock()
	defer catalogue.Unlock()
	for _, t := range types {
		if t.Name == "" || t.Sentence == "" || t.Example == nil {
			panic("events: a type needs a name, a sentence and an example: " + t.Name)
		}
		catalogue.types[t.Name] = t
	}
}

// Known reports whether the catalogue has the type.
func Known(name string) bool {
	catalogue.RLock()
	defer catalogue.RUnlock()
	_, ok := catalogue.types[name]
	return ok
}

// Types lists the catalogue by name.
func Types() []Type {
	catalogue.RLock()
	defer catalogue.RUnlock()
	all := make([]Type, 0, len(catalogue.types))
	for _, t := range catalogue.types {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// CheckTypes refuses names that the catalogue does not have. It returns the
// names sorted and once each; none means every type.
func CheckTypes(names []string, loc ...string) ([]string, error) {
	var unknown []*fault.Error
	for _, name := range names {
		if !Known(name) {
			unknown = append(unknown, fault.New(fault.Invalid, "must be event types of the catalogue; see GET /v2/webhooks/event_types").At(loc...))
			break
		}
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	return slices.Compact(sorted), fault.Join(unknown...)
}

// Example is an envelope of the type with invented values. loc is where the
// name came from, for the refusal of one that is unknown.
func Example(team uuid.UUID, name string, loc ...string) ([]byte, error) {
	catalogue.RLock()
	t, ok := catalogue.types[name]
	catalogue.RUnlock()
	if !ok {
		return nil, fault.New(fault.Invalid, "must be an event type of the catalogue; see GET /v2/webhooks/event_types").At(loc...)
	}
	e := New{Team: team, User: exampleUser, ClientUserID: "example-user", Type: name, Data: t.Example(exampleUser)}
	return e.marshal()
}

// exampleUser is nobody.
var exampleUser = uuid.MustParse("00000000-0000-4000-8000-000000000001")
