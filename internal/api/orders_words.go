package api

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/labs/orders"
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
