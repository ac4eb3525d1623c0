package events

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Type is a type of event. The domain that emits it defines it.
type Type struct {
	Name     string
	Sentence string // when it is sent
	// Optional is set if only endpoints that name the type receive it. An endpoint
	// without a filter does not.
	Optional bool
	// Example returns a payload (the `data` of the envelope) with invented
	// values, about the given user.
	Example func(user uuid.UUID) json.RawMessage
	// Sparse returns a payload in which members are null that the Example has. It
	// completes the schema of the payload. It is nil if there are no such members.
	Sparse func(user uuid.UUID) json.RawMessage
}

// ExampleOf returns the Example of a type whose payload has the user_id and
// some further fields. fields are the members of a JSON object.
func ExampleOf(fields string) func(user uuid.UUID) json.RawMessage {
	return func(user uuid.UUID) json.RawMessage {
		return json.RawMessage(`{"user_id":"` + user.String() + `",` + fields + `}`)
	}
}

// ExampleWithoutUser returns the Example of a type whose payload has only the given fields.
func ExampleWithoutUser(fields string) func(user uuid.UUID) json.RawMessage {
	return func(uuid.UUID) json.RawMessage { return json.RawMessage(`{` + fields + `}`) }
}

// Catalogue holds every type of event that a database may emit.
type Catalogue struct {
	types  []Type // sorted by name
	byName map[string]Type
}

// catalogue is nil for a database without Register. Such a database emits any type.
var catalogue = store.NewSlot[*Catalogue](nil)

// Register sets the catalogue of a database. The app calls it before anything
// uses db.
func Register(db *store.DB, all *Catalogue) { catalogue.Set(db, all) }

// CatalogueOf returns the catalogue of a database.
func CatalogueOf(owner store.Owner) *Catalogue { return catalogue.Of(owner) }

// NewCatalogue makes a catalogue of types, in any order. It panics if a type is
// incomplete or defined twice.
func NewCatalogue(types ...Type) *Catalogue {
	sorted := slices.Clone(types)
	slices.SortFunc(sorted, func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
	c := &Catalogue{sorted, make(map[string]Type, len(sorted))}
	for _, t := range sorted {
		if t.Name == "" || t.Sentence == "" || t.Example == nil {
			panic("events: a type needs a name, a sentence and an example: " + t.Name)
		}
		if c.Known(t.Name) {
			panic("events: two definitions of " + t.Name)
		}
		c.byName[t.Name] = t
	}
	return c
}

// Types lists the catalogue by name.
func (c *Catalogue) Types() []Type {
	if c == nil {
		return nil
	}
	return slices.Clone(c.types)
}

// Known reports whether the catalogue has the type.
func (c *Catalogue) Known(name string) bool {
	if c == nil {
		return false
	}
	_, known := c.byName[name]
	return known
}

// isOptional reports whether only endpoints that name the type receive it.
func (c *Catalogue) isOptional(name string) bool {
	return c != nil && c.byName[name].Optional
}

// Check refuses names that the catalogue does not have. It returns the names
// sorted and without duplicates; an empty list means every type. loc is the
// place of the names in the request. The error names the operation that lists the types:
// a list in the message, as in fault.NotInEnum, would have 9 KB.
func (c *Catalogue) Check(names []string, loc ...string) ([]string, error) {
	for _, name := range names {
		if !c.Known(name) {
			return nil, fault.Join(fault.New(fault.Invalid, "Input should be event types of the catalogue; see GET /v2/webhooks/event_types").At(loc...))
		}
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	return slices.Compact(sorted), nil
}

// Example returns an envelope of the type with invented values. loc is the
// place of the name in the request, for the error about an unknown one.
func (c *Catalogue) Example(team uuid.UUID, name string, loc ...string) ([]byte, error) {
	if !c.Known(name) {
		return nil, fault.New(fault.Invalid, "Input should be an event type of the catalogue; see GET /v2/webhooks/event_types").At(loc...)
	}
	e := New{Team: team, User: exampleUser, ClientUserID: "example-user", Type: name, Data: c.byName[name].Example(exampleUser)}
	return e.marshal()
}

// exampleUser is the invented user of examples.
var exampleUser = uuid.MustParse("00000000-0000-4000-8000-000000000001")
