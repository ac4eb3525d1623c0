package api

import (
	"context"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// orderPSCInfoIn asks for the service centers near an order's patient.
type orderPSCInfoIn struct {
	OrderPath
	Radius       radius       `query:"radius" default:"25" doc:"Miles."`
	Capabilities []capability `query:"capabilities,explode" doc:"Only centers that have all of these; repeat the parameter."`
}

var errNoPatientAddress = fault.New(fault.NotFound, "This order has no patient address yet")

func (a *API) orderPSCInfo(ctx context.Context, c Caller, in *orderPSCInfoIn) (*out[pscInfoBody], error) {
	var body pscInfoBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, c.Team, in.OrderID)
		if err != nil {
			return err
		}
		if o.Body.Address == nil || len(o.Body.Address.Zip) < 5 {
			return errNoPatientAddress
		}
		offered, err := catalogue.For(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		lab, known := offered.Lab(o.Lab)
		if !known {
			return fault.New(fault.NotFound, "Lab not found.")
		}
		body, err = a.pscsNear(ctx, tx, c, lab, o.Body.Address.Zip[:5], in.Radius, in.Capabilities)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}
