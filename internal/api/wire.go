package api

import (
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/labs/orders"
	"hale/internal/platform/patch"
	"hale/internal/platform/teams"
)

// Time is an instant on the wire: 2026-01-02T03:04:05+00:00, in UTC and whole
// seconds.
type Time time.Time

var errBadTime = errors.New("not an instant in RFC 3339")

const timeLayout = "2006-01-02T15:04:05-07:00"

// wireTime is t for the wire, nil for none.
func wireTime(t *time.Time) *Time {
	if t == nil || t.IsZero() {
		return nil
	}
	w := Time(*t)
	return &w
}

// MarshalJSON writes the instant.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.String() + `"`), nil
}

func (t Time) String() string { return time.Time(t).UTC().Format(timeLayout) }

// UnmarshalText reads RFC 3339, with which the layout agrees. An offset must not
// bring an instant into a year that cannot be written.
func (t *Time) UnmarshalText(text []byte) error {
	parsed, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return errBadTime
	}
	parsed = parsed.UTC()
	if parsed.Year() < 1 || parsed.Year() > 9999 {
		return errBadTime
	}
	*t = Time(parsed)
	return nil
}

// Schema says date-time.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// out is an answer that is only a body.
type out[T any] struct{ Body T }

func answer[T any](body T) *out[T] { return &out[T]{body} }

// empty is an answer without a body.
type empty struct{}

// detailBody is an answer that only says something.
type detailBody struct {
	Detail string `json:"detail"`
}

// successBody is the reference's plain yes.
type successBody struct {
	Success bool `json:"success"`
}

// orNull is an object that may be null, which a plain pointer to a struct
// cannot say in OpenAPI.
type orNull[T any] struct{ Value *T }

func nullable[T any](v *T) orNull[T] { return orNull[T]{v} }

// MarshalJSON writes the object or null.
func (o orNull[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// UnmarshalJSON reads the object or null.
func (o *orNull[T]) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &o.Value) }

// Schema says either.
func (orNull[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

// Schemas of the PATCH fields, which huma would take for objects.
type (
	nullableString struct{}
	nullableDate   struct{}
	nullableBool   struct{}
	nullableInt    struct{}
)

// identity is an id of a record, of which huma would only see a text.
type identity struct{}

// Schema says uuid.
func (identity) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Format: "uuid"}
	s.PrecomputeMessages()
	return s
}

func (nullableString) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

func (nullableDate) Schema(r huma.Registry) *huma.Schema {
	s := dayText("").Schema(r)
	s.Nullable = true
	return s
}

func (nullableBool) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeBoolean, Nullable: true}
}

func (nullableInt) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Nullable: true}
}

func registerAliases(r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[patch.Field[string]](), reflect.TypeFor[nullableString]())
	r.RegisterTypeAlias(reflect.TypeFor[patch.Field[dayText]](), reflect.TypeFor[nullableDate]())
	r.RegisterTypeAlias(reflect.TypeFor[patch.Field[bool]](), reflect.TypeFor[nullableBool]())
	r.RegisterTypeAlias(reflect.TypeFor[patch.Field[int]](), reflect.TypeFor[nullableInt]())
	r.RegisterTypeAlias(reflect.TypeFor[orders.ID](), reflect.TypeFor[identity]())
	r.RegisterTypeAlias(reflect.TypeFor[teams.ID](), reflect.TypeFor[identity]())
	registerOrderAliases(r)
	registerAppointmentAliases(r)
}
