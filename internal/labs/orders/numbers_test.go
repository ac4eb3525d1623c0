package orders_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// search_input finds an order by its control number and by numbers of its lab,
// in any case, with or without hyphens. Another team finds nothing.
func TestNumbersFindOrders(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team, stranger := orderstest.Team(t, db), orderstest.Team(t, db)
		o, other := orderstest.New(t, db, team.ID, catalogue.WalkIn), orderstest.New(t, db, team.ID, catalogue.WalkIn)
		for _, one := range []*orders.Order{&o, &other} {
			orderstest.MoveTo(t, db, one, orders.RequisitionCreated)
		}
		index := orders.NewIndex()
		find := func(team orders.Order, input string) (found []orders.ID) {
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
				page, err := index.List(ctx, tx, team.Team, orders.Filter{Search: input, Page: 1, Size: 50})
				found = nil
				for _, o := range page.Orders {
					found = append(found, o.ID)
				}
				return err
			})
			return found
		}
		if found := find(o, "AC-2026-0001"); found != nil { // the team has no key of numbers yet
			t.Errorf("before: %v", found)
		}
		for range 2 {
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				return orders.AddNumbers(ctx, tx, &o, "", o.SampleID, "ac-2026-0001", "R 77")
			})
		}
		for input, want := range map[string]orders.ID{
			o.SampleID: o.ID, other.SampleID: other.ID, " AC-2026-0001 ": o.ID, "ac20260001": o.ID, "r77": o.ID,
		} {
			if found := find(o, input); !slices.Equal(found, []orders.ID{want}) {
				t.Errorf("%q finds %v, want %s", input, found, want)
			}
		}
		for _, input := range []string{"AC-2026-000", "AC-2026-00011", "S-", strings.Repeat("9", 200)} {
			if found := find(o, input); found != nil {
				t.Errorf("%q finds %v", input, found)
			}
		}
		if found := find(orders.Order{Team: stranger.ID}, "AC-2026-0001"); found != nil {
			t.Errorf("another team finds %v", found)
		}
	})
}

// A signature is stored sealed, as a small PNG, and follows to a recreated order.
func TestSignatures(t *testing.T) {
	drawn := image.NewNRGBA(image.Rect(0, 0, 1200, 300))
	for x := range 1200 {
		drawn.Set(x, 150, color.NRGBA{B: 200, A: 255})
	}
	var asPNG, asJPEG bytes.Buffer
	if err := png.Encode(&asPNG, drawn); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&asJPEG, drawn, nil); err != nil {
		t.Fatal(err)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newRequestBuilder(t, db)
		sign := func(image []byte) (orders.Order, error) {
			c.r.Physician = &catalogue.Physician{FirstName: "Jane", LastName: "Example", NPI: "1234567893", Signature: image}
			return c.create()
		}
		read := func(o *orders.Order) (image []byte) {
			c.write(func(ctx context.Context, tx *store.Tx) (err error) {
				image, err = orders.Signature(ctx, tx, o)
				return err
			})
			return image
		}
		for _, sent := range [][]byte{asPNG.Bytes(), asJPEG.Bytes()} {
			o, err := sign(sent)
			if err != nil {
				t.Fatal(err)
			}
			stored, format, err := image.DecodeConfig(bytes.NewReader(read(&o)))
			if err != nil || format != "png" || stored.Width != 400 || stored.Height != 100 || stored.ColorModel != color.GrayModel {
				t.Errorf("stored: %v, %s, %+v", err, format, stored)
			}
			var next orders.Order
			c.write(func(ctx context.Context, tx *store.Tx) (err error) {
				next, err = orders.RecreateOrder(ctx, tx, &o, orders.Recreate{})
				return err
			})
			if !bytes.Equal(read(&next), read(&o)) {
				t.Error("the recreated order has another signature")
			}
		}
		o, err := sign(nil)
		if err != nil || read(&o) != nil {
			t.Errorf("without a signature: %v", err)
		}
		huge := append(asPNG.Bytes(), make([]byte, 1<<20)...)
		for name, bad := range map[string][]byte{"text": []byte("Jane"), "huge": huge, "cut": asPNG.Bytes()[:200], "gif": []byte("GIF89a\x01\x00\x01\x00")} {
			if _, err := sign(bad); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "physician.signature_image.content") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
