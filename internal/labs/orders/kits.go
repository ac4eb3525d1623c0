package orders

import (
	"context"
	"encoding/base32"
	"errors"
	"log/slog"
	"strings"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/diagnoses"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// KitRequest orders a test kit whose patient is not known yet.
//
// Reference 1.12, CreateRegistrableTestkitOrderRequest.
type KitRequest struct {
	User        users.ID
	LabTest     catalogue.TestID
	Shipping    Address
	Passthrough *string
	Account     *catalogue.AccountID
}

// LogValue keeps the address out of logs.
func (KitRequest) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// CreateKit creates the order of a registrable test kit. The sample id is
// printed on the kit.
func CreateKit(ctx context.Context, tx *store.Tx, team teams.ID, r KitRequest) (Order, error) {
	v := newReview(ctx, tx, team)
	v.checkShipping(&r.Shipping)
	if r.Passthrough != nil {
		text := v.form.Optional("passthrough", *r.Passthrough, LongestPassthrough)
		r.Passthrough = &text
	}
	v.checkUser(ctx, r.User)
	o := v.kitOrder(ctx, r)
	if err := v.verdict(); err != nil {
		return Order{}, err
	}
	if err := storeNew(ctx, tx, &o); err != nil {
		return Order{}, err
	}
	changed, err := Advance(ctx, tx, &o, Move{To: AwaitingRegistration, By: Call})
	if err := requireMove(changed, err, &o, AwaitingRegistration); err != nil {
		return Order{}, err
	}
	return o, enqueueJob(ctx, tx, shipKind, &o, time.Time{})
}

func (v *review) kitOrder(ctx context.Context, r KitRequest) Order {
	method := catalogue.TestKit
	p, ok := v.findPlace(ctx, func(set catalogue.OrderSet, _ *Method, account *catalogue.AccountID) (catalogue.Panel, error) {
		panel, err := catalogue.ResolveOrderSet(ctx, v.tx, v.team, set, &method, account)
		return panel, nameLabTest(err)
	}, catalogue.OrderSet{TestIDs: []catalogue.TestID{r.LabTest}}, nil, r.Account, false)
	if !ok {
		return Order{}
	}
	o := p.order(v.team, r.User)
	o.Registrable, o.SampleID = true, kitNumber()
	o.Body = Body{Shipping: &r.Shipping, Passthrough: r.Passthrough}
	return o
}

// nameLabTest names lab_test_id in a refusal of the collection method, which a request with
// one lab test cannot choose.
func nameLabTest(err error) error {
	var refused *fault.Error
	if errors.As(err, &refused) && refused.Code() == "method_not_offered" {
		return fault.New(fault.Refused, "This lab test is not offered with its collection method, or not as a test kit: lab_test_id").
			At("body", "lab_test_id").WithType(refused.Code())
	}
	return err
}

// kitNumber returns the number to print on a kit: ten characters that are easy
// to distinguish when read aloud.
func kitNumber() string {
	letters := base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)
	return "K" + letters.EncodeToString(secrets.Bytes(7))[:10]
}

// Registration assigns a kit to a patient.
//
// Reference 1.12, RegisterTestkitRequest.
type Registration struct {
	User      *users.ID // another user of the team, who gets the order
	SampleID  string
	Patient   Patient
	Address   Address
	Physician *catalogue.Physician
	Consents  []Consent
	ICDCodes  []string
}

// LogValue keeps personal data out of logs.
func (Registration) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Register assigns a kit to the person who uses it, and places the order with
// the lab.
func Register(ctx context.Context, tx *store.Tx, team teams.ID, r Registration) (Order, error) {
	o, _, err := RegisterWithWarnings(ctx, tx, team, r)
	return o, err
}

// RegisterWithWarnings assigns a kit like Register. It also returns the warnings that do
// not refuse the registration.
func RegisterWithWarnings(ctx context.Context, tx *store.Tx, team teams.ID, r Registration) (Order, []*fault.Error, error) {
	v := newReview(ctx, tx, team)
	v.checkPatient(&r.Patient)
	v.checkAddress("patient_address", &r.Address)
	v.checkPhysician(r.Physician)
	v.checkConsentTypes(r.Consents)
	v.checkDiagnosisCount(r.ICDCodes, "health_insurance", "diagnosis_codes")
	v.check(diagnoses.CheckCodes(ctx, tx, r.ICDCodes, "health_insurance", "diagnosis_codes"))
	r.SampleID = v.form.Text("sample_id", r.SampleID, LongestLine)
	if len(v.problems()) > 0 {
		return Order{}, nil, v.verdict()
	}
	o, err := kitBySample(ctx, tx, team, r.SampleID)
	if err != nil {
		return Order{}, nil, err
	}
	if r.User != nil {
		v.checkUser(ctx, *r.User)
		o.User = *r.User
	}
	v.checkRegistration(ctx, &o, &r)
	if err := v.verdict(); err != nil {
		return Order{}, nil, err
	}
	if err := saveSignature(ctx, tx, &o); err != nil {
		return Order{}, nil, err
	}
	if err := savePerson(ctx, tx, &o); err != nil {
		return Order{}, nil, restartIfStale(err)
	}
	changed, err := Advance(ctx, tx, &o, Move{To: Registered, By: Call})
	if err == nil && !changed {
		err = store.ErrLostRace // the check above allowed it
	}
	if err != nil {
		return Order{}, nil, err
	}
	return o, v.warnings, dispatch(ctx, tx, &o)
}

// checkRegistration checks the requirements of the order's lab and fills in the
// person.
func (v *review) checkRegistration(ctx context.Context, o *Order, r *Registration) {
	if !o.Course().Allows(o.Status, Registered, Call) {
		v.refuse("kit_not_registrable", "A test kit in status "+o.Full()+" cannot be registered", "sample_id")
		return
	}
	v.warnOtherPerson(ctx, o.User, &r.Patient)
	v.checkMinor(ctx, o.User, &r.Patient)
	account, err := catalogue.AccountOf(ctx, v.tx, v.team, o.Account)
	if !v.check(err) {
		return
	}
	v.checkTerms(placement{panel: catalogue.Panel{Lab: account.Lab}, account: account}, r.Address.State, o.Billing, r.Physician)
	v.checkConsents(ctx, r.Physician, r.Consents)
	o.Body.Physician, err = physicianOf(ctx, v.tx, v.team, account, r.Physician)
	v.check(err)
	o.Body.Patient, o.Body.Address, o.Body.Consents, o.Body.ICDCodes = &r.Patient, &r.Address, r.Consents, r.ICDCodes
}

// kitBySample finds a registrable kit of the team by the number printed on it.
func kitBySample(ctx context.Context, tx *store.Tx, team teams.ID, sample string) (Order, error) {
	found, err := selectOrders(ctx, tx, `SELECT `+columns+` FROM orders WHERE team_id = $1 AND sample_id IN ($2, $3) AND registrable = TRUE
		ORDER BY id DESC LIMIT 1`, team, sample, strings.ToUpper(sample))
	if err != nil {
		return Order{}, err
	}
	if len(found) == 0 {
		return Order{}, fault.New(fault.NotFound, "No test kit with this sample_id").At("body", "sample_id").WithType("unknown_sample_id")
	}
	return found[0], nil
}
