package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/civil"
	"hale/internal/fault"
	"hale/internal/orders"
)

// Words of the orders list.
type (
	orderStatusWord     string
	orderSortWord       string
	interpretationWord  string
	orderActivationWord string
)

func (orderStatusWord) Schema(huma.Registry) *huma.Schema     { return wordsOf(orders.Statuses) }
func (orderSortWord) Schema(huma.Registry) *huma.Schema       { return wordsOf(orders.SortKeys) }
func (interpretationWord) Schema(huma.Registry) *huma.Schema  { return wordsOf(orders.Interpretations) }
func (orderActivationWord) Schema(huma.Registry) *huma.Schema { return wordsOf(orders.Activations) }

// registerOrderAliases tells huma how the types of orders look that are
// written in their own way.
func registerOrderAliases(r huma.Registry) {
	alias := func(of, as reflect.Type) { r.RegisterTypeAlias(of, as) }
	alias(reflect.TypeFor[orders.Instant](), reflect.TypeFor[Time]())
	alias(reflect.TypeFor[orders.Precise](), reflect.TypeFor[Time]())
	alias(reflect.TypeFor[orders.Null[orders.PatientDocument]](), reflect.TypeFor[orNull[orders.PatientDocument]]())
	alias(reflect.TypeFor[orders.Null[orders.PatientAddressDocument]](), reflect.TypeFor[orNull[orders.PatientAddressDocument]]())
	alias(reflect.TypeFor[orders.Null[orders.ShippingDocument]](), reflect.TypeFor[orNull[orders.ShippingDocument]]())
	alias(reflect.TypeFor[orders.Null[orders.PhysicianDocument]](), reflect.TypeFor[orNull[orders.PhysicianDocument]]())
	alias(reflect.TypeFor[orders.Null[orders.GuarantorDocument]](), reflect.TypeFor[orNull[orders.GuarantorDocument]]())
	alias(reflect.TypeFor[orders.Null[orders.ShipmentDocument]](), reflect.TypeFor[orNull[orders.ShipmentDocument]]())
	alias(reflect.TypeFor[orders.NullID](), reflect.TypeFor[nullableID]())
}

// orderIDText is an order's id in a list of the query, which huma reads as
// words only.
type orderIDText string

func (orderIDText) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Format: "uuid"}
	s.PrecomputeMessages()
	return s
}

type nullableID struct{}

func (nullableID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uuid", Nullable: true}
}

// objectOrNull is an object of a request that may be null or absent. Its
// schema stands inline, so that what is wrong inside is named field by field.
type objectOrNull[T any] struct{ Value *T }

// UnmarshalJSON reads the object or null.
func (o *objectOrNull[T]) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &o.Value) }

// Schema says either.
func (objectOrNull[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), false, "")
	s.Nullable = true
	return &s
}

// dayIn reads a date of an order, as the reference takes it: blanks around it
// do not matter, and midnight of a day is the day.
func dayIn(text string, at ...string) (civil.Date, *fault.Error) {
	text = strings.TrimSpace(text)
	if day, err := civil.ParseDate(text); err == nil {
		return day, nil
	}
	for _, layout := range []string{"2006-01-02T15:04:05", time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil && t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 && t.Nanosecond() == 0 {
			return civil.DateOf(t), nil
		}
	}
	return civil.Date{}, fault.New(fault.Invalid, "Input should be a valid date in the format YYYY-MM-DD").
		At(append([]string{"body"}, at...)...).WithType("date_from_datetime_parsing")
}
