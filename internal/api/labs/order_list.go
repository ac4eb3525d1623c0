package labs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// listOrdersIn is the query of the list of orders.
//
// Spec: Lab lookups, GET /v3/orders.
type listOrdersIn struct {
	SearchInput           string                `query:"search_input" maxLength:"200" doc:"Order id, user id, control number, sample id, requisition or accession number, patient's name or birth date, recipient's name."`
	StartDate             string                `query:"start_date" doc:"Return only orders created at this time or later. A date means 00:00:00."`
	EndDate               string                `query:"end_date" doc:"Return only orders created at this time or earlier. A date means 23:59:59."`
	UpdatedStartDate      string                `query:"updated_start_date" doc:"Return only orders changed at this time or later. A date means 00:00:00."`
	UpdatedEndDate        string                `query:"updated_end_date" doc:"Return only orders changed at this time or earlier. A date means 00:00:00."`
	Status                []orderStatusWord     `query:"status,explode" maxItems:"50" doc:"Low-level statuses; repeat the parameter."`
	OrderKey              orderSortWord         `query:"order_key" doc:"Field that orders the list. The default is created_at."`
	OrderDirection        orderDirection        `query:"order_direction" doc:"Direction of the order. The default is desc."`
	OrderType             []collectionMethod    `query:"order_type,explode" maxItems:"20" doc:"Collection methods; repeat the parameter."`
	IsCritical            api.Maybe[bool]       `query:"is_critical"`
	Interpretation        []interpretationWord  `query:"interpretation,explode" maxItems:"50"`
	OrderActivationTypes  []orderActivationWord `query:"order_activation_types,explode" maxItems:"20" doc:"current means that the day of the order has come. scheduled means that it has not."`
	UserID                []api.IDText          `query:"user_id,explode" maxItems:"50"`
	PatientName           string                `query:"patient_name" maxLength:"200" doc:"Part of the name; case and accents are ignored."`
	ShippingRecipientName string                `query:"shipping_recipient_name" maxLength:"200" doc:"Part of the name of the recipient."`
	OrderIDs              []api.IDText          `query:"order_ids,explode" maxItems:"500" doc:"Ids of orders. Repeat the parameter for several."`
	OrderTransactionID    []api.IDText          `query:"order_transaction_id,explode" maxItems:"50"`
	Page                  int                   `query:"page" minimum:"1" maximum:"1000000" default:"1"`
	Size                  int                   `query:"size" minimum:"1" maximum:"100" default:"50"`
	Cursor                string                `query:"next_cursor" doc:"next_cursor of the previous page, with the same filters, instead of page. It skips and repeats no order while orders change."`
}

type ordersBody struct {
	Orders []orderBody `json:"orders"`
	Total  int         `json:"total" doc:"Number of orders that match the filters."`
	Page   int         `json:"page"`
	Size   int         `json:"size"`
	Next   *string     `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

func (in *listOrdersIn) filter() (orders.Filter, error) {
	f := orders.Filter{
		Search: in.SearchInput, PatientName: in.PatientName, Recipient: in.ShippingRecipientName,
		Critical: in.IsCritical.Pointer(), Interpretations: api.Words[orders.Interpretation](in.Interpretation),
		Statuses: api.Words[orders.Status](in.Status), Methods: api.Words[orders.Method](in.OrderType), Activations: api.Words[orders.Activation](in.OrderActivationTypes),
		Key: orders.SortKey(in.OrderKey), Ascending: in.OrderDirection == "asc", Page: in.Page, Size: in.Size,
	}
	var err error
	if f.Users, err = api.ParseIDs[users.User]("user_id", in.UserID); err != nil {
		return f, err
	}
	if f.Transactions, err = api.ParseIDs[orders.Transaction]("order_transaction_id", in.OrderTransactionID); err != nil {
		return f, err
	}
	if f.IDs, err = api.ParseIDs[orders.Order]("order_ids", in.OrderIDs); err != nil {
		return f, err
	}
	if in.Cursor != "" {
		f.After = new(orders.Cursor)
		if err := paging.Decode(in.Cursor, f.After); err != nil {
			return f, err
		}
	}
	var faults []*fault.Error
	for _, b := range []struct {
		name, text string
		end        bool // a date means the end of its day
		set        func(api.Span)
	}{
		{"start_date", in.StartDate, false, func(s api.Span) { t := store.FromMicros(s.From); f.Created.From = &t }},
		{"end_date", in.EndDate, true, func(s api.Span) { t := store.FromMicros(s.To - 1); f.Created.To = &t }},
		{"updated_start_date", in.UpdatedStartDate, false, func(s api.Span) { t := store.FromMicros(s.From); f.Updated.From = &t }},
		{"updated_end_date", in.UpdatedEndDate, false, func(s api.Span) { t := store.FromMicros(s.From); f.Updated.To = &t }},
	} {
		if b.text == "" {
			continue
		}
		s, bad := api.ParseSpan(b.name, b.text)
		if bad == nil {
			b.set(s)
		}
		faults = append(faults, bad)
	}
	return f, fault.Join(faults...)
}

func (h *Handlers) listOrders(ctx context.Context, c api.Caller, in *listOrdersIn) (*api.Encoded, error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	if err := h.Orders.Ready(ctx, h.DB, c.Team); err != nil {
		return nil, err
	}
	var text []byte
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		page, err := h.Orders.List(ctx, tx, c.Team, f)
		if err != nil {
			return err
		}
		next := "null"
		if page.Next != nil {
			next = strconv.Quote(paging.Encode(page.Next))
		}
		text, err = orderPage(ctx, tx, c.Team, page.Orders, fmt.Sprintf(`,"total":%d,"page":%d,"size":%d,"next_cursor":%s}`, page.Total, in.Page, in.Size, next))
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.WriteJSON(text), nil
}

// labTestPlaceholder is a placeholder for the lab test of an order. Quotes inside a JSON
// string are escaped, so the first match is the placeholder.
var (
	labTestPlaceholder = json.RawMessage(`0`)
	labTestField       = []byte(`"lab_test":`)
)

// orderPage returns ordersBody as JSON; rest is the text after the orders. Most of the
// text is lab tests with their markers. A page has few different lab tests, so each is
// encoded once.
func orderPage(ctx context.Context, tx *store.Tx, team teams.ID, page []orders.Order, rest string) ([]byte, error) {
	facts, err := orders.ReadFacts(ctx, tx, team, page)
	if err != nil {
		return nil, err
	}
	offered, err := catalogue.Load(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	aboutOrders(ctx, page...)
	tests := map[catalogue.TestID][]byte{}
	parts := [][]byte{[]byte(`{"orders":[`)}
	for i := range page {
		test, known := tests[page[i].LabTest]
		if !known {
			if test, err = json.Marshal(labTestOf(offered, facts[i].Test)); err != nil {
				return nil, fmt.Errorf("api: encoding a lab test: %w", err)
			}
			tests[page[i].LabTest] = test
		}
		order, err := json.Marshal(orders.DocumentOf(&page[i], facts[i], labTestPlaceholder, tx.Now()))
		if err != nil {
			return nil, fmt.Errorf("api: encoding an order: %w", err)
		}
		before, after, _ := bytes.Cut(order, slices.Concat(labTestField, labTestPlaceholder))
		if i > 0 {
			parts = append(parts, []byte{','})
		}
		parts = append(parts, before, labTestField, test, after)
	}
	return slices.Concat(append(parts, []byte("]"+rest))...), nil // almost a megabyte, copied once
}

// Types for values of the list of orders.
type (
	orderStatusWord     string
	orderSortWord       string
	interpretationWord  string
	orderActivationWord string
)

func (orderStatusWord) Schema(huma.Registry) *huma.Schema    { return api.Enum(orders.Statuses) }
func (orderSortWord) Schema(huma.Registry) *huma.Schema      { return api.Enum(orders.SortKeys) }
func (interpretationWord) Schema(huma.Registry) *huma.Schema { return api.Enum(orders.Interpretations) }

func (orderActivationWord) Schema(huma.Registry) *huma.Schema { return api.Enum(orders.Activations) }

// registerOrderAliases gives huma the schemas of order types with their own JSON
// encoding.
func registerOrderAliases(r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[orders.ID](), reflect.TypeFor[api.UUIDSchema]())
	alias := func(of, as reflect.Type) { r.RegisterTypeAlias(of, as) }
	alias(reflect.TypeFor[orders.Instant](), reflect.TypeFor[api.Time]())
	alias(reflect.TypeFor[orders.Null[orders.PatientDocument]](), reflect.TypeFor[api.OrNull[orders.PatientDocument]]())
	alias(reflect.TypeFor[orders.Null[orders.PatientAddressDocument]](), reflect.TypeFor[api.OrNull[orders.PatientAddressDocument]]())
	alias(reflect.TypeFor[orders.Null[orders.ShippingDocument]](), reflect.TypeFor[api.OrNull[orders.ShippingDocument]]())
	alias(reflect.TypeFor[orders.Null[orders.PhysicianDocument]](), reflect.TypeFor[api.OrNull[orders.PhysicianDocument]]())
	alias(reflect.TypeFor[orders.Null[orders.GuarantorDocument]](), reflect.TypeFor[api.OrNull[orders.GuarantorDocument]]())
	alias(reflect.TypeFor[orders.Null[orders.ShipmentDocument]](), reflect.TypeFor[api.OrNull[orders.ShipmentDocument]]())
	alias(reflect.TypeFor[orders.NullID](), reflect.TypeFor[nullableID]())
}

type nullableID struct{}

func (nullableID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uuid", Nullable: true}
}
