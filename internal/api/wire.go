package api

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/patch"
	"hale/internal/platform/teams"
)

// Time is an instant in JSON, as a [civil.Instant].
type Time time.Time

// TimeOrNull converts t; nil becomes null.
func TimeOrNull(t *time.Time) *Time {
	if t == nil || t.IsZero() {
		return nil
	}
	w := Time(*t)
	return &w
}

// MarshalJSON returns the instant.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.String() + `"`), nil
}

func (t Time) String() string { return civil.Instant(t).String() }

// UnmarshalText parses RFC 3339.
func (t *Time) UnmarshalText(text []byte) error { return (*civil.Instant)(t).UnmarshalText(text) }

// Schema declares a date-time.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// Out is an answer with a body only.
type Out[T any] struct{ Body T }

func Answer[T any](body T) *Out[T] { return &Out[T]{body} }

// Empty is an answer without a body.
type Empty struct{}

// SuccessBody is the reference's body for success.
type SuccessBody struct {
	Success bool `json:"success"`
}

// OrNull is an object that may be null. huma cannot describe that for a plain pointer
// to a struct.
type OrNull[T any] struct{ Value *T }

func Nullable[T any](v *T) OrNull[T] { return OrNull[T]{v} }

// MarshalJSON returns the object or null.
func (o OrNull[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// UnmarshalJSON parses the object or null.
func (o *OrNull[T]) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &o.Value) }

// Schema declares an object or null.
func (OrNull[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// Schemas of the PATCH fields, which huma would describe as objects.
type (
	nullableString struct{}
	nullableDate   struct{}
	nullableBool   struct{}
	nullableInt    struct{}
)

// UUIDSchema describes the id of a record, which huma would describe as plain text.
type UUIDSchema struct{}

// Schema declares a uuid.
func (UUIDSchema) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Format: "uuid"}
	s.PrecomputeMessages()
	return s
}

func (nullableString) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

func (nullableDate) Schema(r huma.Registry) *huma.Schema {
	s := DateText("").Schema(r)
	s.Nullable = true
	return s
}

func (nullableBool) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeBoolean, Nullable: true}
}

func (nullableInt) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Nullable: true}
}

func registerPatchAliases(r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[patch.Field[string]](), reflect.TypeFor[nullableString]())
	r.RegisterTypeAlias(reflect.TypeFor[patch.Field[DateText]](), reflect.TypeFor[nullableDate]())
	r.RegisterTypeAlias(reflect.TypeFor[patch.Field[bool]](), reflect.TypeFor[nullableBool]())
	r.RegisterTypeAlias(reflect.TypeFor[patch.Field[int]](), reflect.TypeFor[nullableInt]())
	r.RegisterTypeAlias(reflect.TypeFor[teams.ID](), reflect.TypeFor[UUIDSchema]())
}

// TextOf returns the text of a field that may be null, or "" for null.
func TextOf[T ~string](w *T) string {
	if w == nil {
		return ""
	}
	return string(*w)
}

// TextOrNull returns nil for an empty text.
func TextOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func EnumOf(words []string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Nullable: true}
	for _, w := range words {
		s.Enum = append(s.Enum, w)
	}
	s.PrecomputeMessages()
	return s
}

// Enum returns the schema of a string with a fixed list of values.
func Enum[T ~string](words []T) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, w := range words {
		s.Enum = append(s.Enum, string(w))
	}
	s.PrecomputeMessages()
	return s
}

// ListOrNull is a list that may be null or absent. Both mean an empty list.
type ListOrNull[T any] []T

// Schema adds null to the schema of the list.
func (ListOrNull[T]) Schema(r huma.Registry) *huma.Schema {
	var item any = *new(T)
	items := r.Schema(reflect.TypeFor[T](), true, "")
	if _, identity := item.(interface{ UUID() uuid.UUID }); identity {
		items = &huma.Schema{Type: huma.TypeString, Format: "uuid"}
		items.PrecomputeMessages()
	}
	return &huma.Schema{Type: huma.TypeArray, Nullable: true, Items: items}
}

// Maybe is a query parameter that distinguishes absent from zero. It is exported,
// because huma sets no others.
type Maybe[T any] struct {
	Value T
	Given bool
}

// Schema returns the schema of the value.
func (Maybe[T]) Schema(r huma.Registry) *huma.Schema {
	return huma.SchemaFromType(r, reflect.TypeFor[T]())
}

// Receiver returns the place in which huma stores the value.
func (m *Maybe[T]) Receiver() reflect.Value { return reflect.ValueOf(m).Elem().Field(0) }

// OnParamSet records whether the parameter was given.
func (m *Maybe[T]) OnParamSet(given bool, _ any) { m.Given = given }

// Pointer returns the value, or nil if it was not given.
func (m *Maybe[T]) Pointer() *T {
	if !m.Given {
		return nil
	}
	return &m.Value
}

// ObjectOrNull is an object of a request that may be null or absent. Its schema is
// inline, so that errors inside it name the field.
type ObjectOrNull[T any] struct{ Value *T }

// UnmarshalJSON parses the object or null.
func (o *ObjectOrNull[T]) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &o.Value) }

// Schema declares an object or null.
func (ObjectOrNull[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), false, "")
	s.Nullable, s.Extensions = true, statedOrNull(s.Extensions)
	return &s
}

func AnyOf(all ...*huma.Schema) *huma.Schema { return &huma.Schema{AnyOf: all} }

// UserPath is the part of an input with the user's id. It is embedded, and huma ignores
// embedded types that are not exported.
type UserPath struct {
	UserID users.ID `path:"user_id" format:"uuid"`
}

// EnvironmentWord is the environment of a team.
type EnvironmentWord string

// Schema lists the environments.
func (EnvironmentWord) Schema(huma.Registry) *huma.Schema { return Enum(teams.Environments) }

// OrgPath is the part of an input with the team in the path. The team's own id is also
// the id of its organisation.
type OrgPath struct {
	OrgID       teams.ID        `path:"org_id" format:"uuid" doc:"The id of the team, which is also the id of its organisation."`
	TeamID      teams.ID        `path:"team_id" format:"uuid"`
	Environment EnvironmentWord `path:"environment"`
}

// Check returns the error for an unknown id, unless the path names the key's own team,
// organisation and environment.
func (p OrgPath) Check(c Caller) error {
	if p.TeamID != c.Team || p.OrgID != c.Team || teams.Environment(p.Environment) != c.Environment {
		return fault.New(fault.NotFound, "Team not found")
	}
	return nil
}
