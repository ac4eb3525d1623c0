package api

import (
	"context"

	"hale/internal/people/insurance"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

func (a *API) insuranceRoutes() []route {
	return []route{
		post("/v2/user/{user_id}/insurance", a.createInsurance, "Add an insurance record").creates().sensitive(),
		get("/v2/user/{user_id}/insurance/latest", a.latestInsurance, "Get the newest insurance record"),
	}
}

type createInsuranceIn struct {
	UserPath
	Body struct {
		PayorCode    string                    `json:"payor_code" doc:"A code of the payor directory; MEDFED or MAIDFED for the plan of the insured person's state."`
		MemberID     string                    `json:"member_id"`
		GroupID      *string                   `json:"group_id" required:"false"`
		Relationship string                    `json:"relationship" enum:"Self,Spouse,Other"`
		Insured      insuredIn                 `json:"insured"`
		Guarantor    objectOrNull[guarantorIn] `json:"guarantor" required:"false" doc:"Needed unless the relationship is Self."`
		IsPrimary    *bool                     `json:"is_primary" required:"false" default:"true"`
	}
}

type insuredIn struct {
	FirstName   string    `json:"first_name"`
	LastName    string    `json:"last_name"`
	Gender      string    `json:"gender" doc:"female, male, other or unknown, in any case."`
	DOB         dayText   `json:"dob"`
	Email       string    `json:"email"`
	PhoneNumber string    `json:"phone_number"`
	Address     addressIn `json:"address"`
}

// insuranceBody is a record on the wire.
//
// Spec: Insurance record.
type insuranceBody struct {
	PayorCode    string         `json:"payor_code"`
	MemberID     string         `json:"member_id"`
	GroupID      *string        `json:"group_id"`
	Relationship string         `json:"relationship" doc:"Self, Spouse or Other. The list may grow."`
	Insured      insuredBody    `json:"insured"`
	Company      companyBody    `json:"company"`
	Guarantor    *guarantorBody `json:"guarantor,omitempty"`
	IsPrimary    bool           `json:"is_primary"`
}

type insuredBody struct {
	FirstName   string      `json:"first_name"`
	LastName    string      `json:"last_name"`
	Gender      string      `json:"gender"`
	DOB         civil.Date  `json:"dob" format:"date"`
	Email       string      `json:"email"`
	PhoneNumber string      `json:"phone_number"`
	Address     addressBody `json:"address"`
}

type companyBody struct {
	Name    string      `json:"name"`
	Address addressBody `json:"address"`
}

func insuranceOf(r insurance.Record) insuranceBody {
	i := r.Insured
	body := insuranceBody{
		PayorCode: r.PayorCode, MemberID: r.MemberID, GroupID: orNone(r.GroupID), Relationship: string(r.Relationship),
		Insured:   insuredBody{i.FirstName, i.LastName, i.Gender, i.BirthDate, i.Email, i.PhoneNumber, addressOf(i.Address)},
		Company:   companyBody{r.Company.Name, addressOf(r.Company.Address)},
		IsPrimary: r.IsPrimary,
	}
	if r.Guarantor != nil {
		g := guarantorOf(*r.Guarantor)
		body.Guarantor = &g
	}
	return body
}

func (in *createInsuranceIn) record() (insurance.Record, error) {
	b := in.Body
	r := insurance.Record{
		PayorCode: b.PayorCode, MemberID: b.MemberID, GroupID: word(b.GroupID), Relationship: insurance.Relationship(b.Relationship),
		Insured: insurance.Insured{
			FirstName: b.Insured.FirstName, LastName: b.Insured.LastName, Gender: b.Insured.Gender,
			Email: b.Insured.Email, PhoneNumber: b.Insured.PhoneNumber,
		},
		IsPrimary: b.IsPrimary == nil || *b.IsPrimary,
	}
	var err1, err2, err3 *fault.Error
	r.Insured.BirthDate, err1 = b.Insured.DOB.day("insured", "dob")
	r.Insured.Address, err2 = b.Insured.Address.address("body", "insured", "address")
	r.Guarantor, err3 = guarantorFrom(b.Guarantor, "body", "guarantor")
	return r, fault.Join(err1, err2, err3)
}

func (a *API) createInsurance(ctx context.Context, c Caller, in *createInsuranceIn) (*out[insuranceBody], error) {
	r, err := in.record()
	if err != nil {
		return nil, err
	}
	return answering(ctx, a, func(tx *store.Tx) (insuranceBody, error) {
		kept, err := insurance.Create(ctx, tx, c.Team, in.UserID, r)
		if err != nil {
			return insuranceBody{}, err
		}
		return insuranceOf(kept), nil
	})
}

type latestInsuranceIn struct {
	UserPath
	IsPrimary bool `query:"is_primary" default:"true" doc:"Whether to look among primary records or the others."`
}

func (a *API) latestInsurance(ctx context.Context, c Caller, in *latestInsuranceIn) (*out[insuranceBody], error) {
	var r insurance.Record
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		r, err = insurance.Latest(ctx, tx, c.Team, in.UserID, in.IsPrimary)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(insuranceOf(r)), nil
}
