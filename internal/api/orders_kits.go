package api

import (
	"context"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

type createTestkitOrderIn struct {
	Body struct {
		UserID          users.ID             `json:"user_id" format:"uuid"`
		LabTestID       catalogue.TestID     `json:"lab_test_id" format:"uuid"`
		ShippingDetails shippingIn           `json:"shipping_details"`
		Passthrough     *string              `json:"passthrough" required:"false" doc:"Yours: given back as it is."`
		LabAccountID    *catalogue.AccountID `json:"lab_account_id" required:"false" format:"uuid" nullable:"true"`
	}
}

// shippingIn is where a kit goes.
type shippingIn struct {
	ReceiverName string  `json:"receiver_name"`
	FirstLine    string  `json:"first_line"`
	SecondLine   *string `json:"second_line" required:"false"`
	City         string  `json:"city"`
	State        string  `json:"state" doc:"Two letters."`
	Zip          string  `json:"zip" doc:"12345 or 12345-6789."`
	Country      string  `json:"country"`
	PhoneNumber  string  `json:"phone_number"`
}

func (in shippingIn) address() orders.Address {
	return patientAddressIn{
		ReceiverName: &in.ReceiverName, FirstLine: in.FirstLine, SecondLine: in.SecondLine, City: in.City, State: in.State,
		Zip: in.Zip, Country: in.Country, PhoneNumber: &in.PhoneNumber,
	}.address()
}

func (a *API) createTestkitOrder(ctx context.Context, c Caller, in *createTestkitOrderIn) (*out[postOrderBody], error) {
	b := in.Body
	return a.ordered(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, err := orders.CreateKit(ctx, tx, c.Team, orders.KitRequest{
			User: b.UserID, LabTest: b.LabTestID, Shipping: b.ShippingDetails.address(), Passthrough: b.Passthrough, Account: b.LabAccountID,
		})
		return o, "Order created successfully", err
	})
}

type registerTestkitIn struct {
	Body struct {
		UserID          *users.ID                 `json:"user_id" required:"false" format:"uuid" nullable:"true" doc:"Another user, to whom the order moves."`
		SampleID        string                    `json:"sample_id" doc:"Printed on the kit."`
		PatientDetails  patientIn                 `json:"patient_details"`
		PatientAddress  patientAddressIn          `json:"patient_address"`
		Physician       objectOrNull[physicianIn] `json:"physician" required:"false"`
		Consents        listOrNull[consentIn]     `json:"consents" required:"false" maxItems:"50"`
		HealthInsurance objectOrNull[coverageIn]  `json:"health_insurance" required:"false" doc:"Deprecated: only diagnosis_codes are read; see the insurance endpoints."`
	}
}

func (a *API) registerTestkit(ctx context.Context, c Caller, in *registerTestkitIn) (*out[postOrderBody], error) {
	b := in.Body
	patient, err := b.PatientDetails.patient()
	if err != nil {
		return nil, err
	}
	return a.ordered(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, err := orders.Register(ctx, tx, c.Team, orders.Registration{
			User: b.UserID, SampleID: b.SampleID, Patient: patient, Address: b.PatientAddress.address(),
			Physician: physicianFrom(b.Physician), Consents: consentsFrom(b.Consents), ICDCodes: codesOf(b.HealthInsurance),
		})
		return o, "Kit registered successfully", err
	})
}

type importOrderIn struct {
	Body struct {
		UserID           users.ID                  `json:"user_id" format:"uuid"`
		BillingType      string                    `json:"billing_type"`
		OrderSet         orderedIn                 `json:"order_set"`
		CollectionMethod string                    `json:"collection_method"`
		Physician        objectOrNull[physicianIn] `json:"physician" required:"false"`
		PatientDetails   patientIn                 `json:"patient_details"`
		PatientAddress   patientAddressIn          `json:"patient_address" doc:"Only looked at for what must be there; receiver_name is needed."`
		SampleID         string                    `json:"sample_id" doc:"The lab's number of the order; no other order may have it."`
		LabAccountID     *catalogue.AccountID      `json:"lab_account_id" required:"false" format:"uuid" nullable:"true" doc:"A pending account will do."`
	}
}

func (a *API) importOrder(ctx context.Context, c Caller, in *importOrderIn) (*out[postOrderBody], error) {
	b := in.Body
	patient, err := b.PatientDetails.patient()
	if err != nil {
		return nil, err
	}
	if b.PatientAddress.ReceiverName == nil {
		return nil, fault.New(fault.Invalid, "Field required").At("body", "patient_address", "receiver_name").WithType("missing")
	}
	return a.ordered(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, err := orders.Adopt(ctx, tx, c.Team, orders.Import{
			User: b.UserID, Billing: catalogue.Billing(strings.TrimSpace(b.BillingType)), Set: *b.OrderSet.set(),
			Method: catalogue.Method(strings.TrimSpace(b.CollectionMethod)), Physician: physicianFrom(b.Physician),
			Patient: patient, Address: b.PatientAddress.address(), SampleID: b.SampleID, Account: b.LabAccountID,
		})
		return o, "Order imported successfully", err
	})
}
