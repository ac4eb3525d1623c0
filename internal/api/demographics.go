package api

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

func (a *API) demographicsRoutes() []route {
	return []route{
		amend("/v2/user/{user_id}/info", a.putInfo, "Give or replace a user's demographics").sensitive(),
		get("/v2/user/{user_id}/info/latest", a.latestInfo, "Get a user's demographics"),
	}
}

// infoIn is demographics as they come in.
//
// Reference 5.7, UserInfoCreateRequest.
type infoIn struct {
	FirstName         string                    `json:"first_name"`
	LastName          string                    `json:"last_name"`
	Email             string                    `json:"email"`
	PhoneNumber       string                    `json:"phone_number" doc:"Kept as E.164. Without a country code it is read as North American."`
	Gender            string                    `json:"gender"`
	DOB               dayText                   `json:"dob"`
	Address           addressIn                 `json:"address"`
	MedicalProxy      objectOrNull[guarantorIn] `json:"medical_proxy" required:"false" doc:"Who speaks for a minor."`
	Race              *race                     `json:"race" required:"false"`
	Ethnicity         *ethnicity                `json:"ethnicity" required:"false"`
	SexualOrientation *orientation              `json:"sexual_orientation" required:"false"`
	GenderIdentity    *identityWord             `json:"gender_identity" required:"false"`
}

type putInfoIn struct {
	UserPath
	Body infoIn
}

// infoBody is demographics on the wire.
//
// Spec: Latest user info.
type infoBody struct {
	FirstName         string         `json:"first_name"`
	LastName          string         `json:"last_name"`
	Email             string         `json:"email"`
	PhoneNumber       string         `json:"phone_number"`
	Gender            string         `json:"gender"`
	DOB               civil.Date     `json:"dob" format:"date"`
	Address           addressBody    `json:"address"`
	MedicalProxy      *guarantorBody `json:"medical_proxy,omitempty"`
	Race              *string        `json:"race" doc:"As in the request. The list may grow."`
	Ethnicity         *string        `json:"ethnicity" doc:"As in the request. The list may grow."`
	SexualOrientation *string        `json:"sexual_orientation" doc:"As in the request. The list may grow."`
	GenderIdentity    *string        `json:"gender_identity" doc:"As in the request. The list may grow."`
}

func infoOf(i users.Info) infoBody {
	body := infoBody{
		FirstName: i.FirstName, LastName: i.LastName, Email: i.Email, PhoneNumber: i.PhoneNumber, Gender: i.Gender, DOB: i.BirthDate,
		Address: addressOf(i.Address), Race: orNone(i.Race), Ethnicity: orNone(i.Ethnicity),
		SexualOrientation: orNone(i.SexualOrientation), GenderIdentity: orNone(i.GenderIdentity),
	}
	if i.MedicalProxy != nil {
		proxy := guarantorOf(*i.MedicalProxy)
		body.MedicalProxy = &proxy
	}
	return body
}

func (b infoIn) info() (users.Info, error) {
	info := users.Info{
		FirstName: b.FirstName, LastName: b.LastName, Email: b.Email, PhoneNumber: b.PhoneNumber, Gender: b.Gender,
		Race: word(b.Race), Ethnicity: word(b.Ethnicity), SexualOrientation: word(b.SexualOrientation), GenderIdentity: word(b.GenderIdentity),
	}
	var err1, err2, err3 *fault.Error
	info.BirthDate, err1 = b.DOB.day("dob")
	info.Address, err2 = b.Address.address("body", "address")
	info.MedicalProxy, err3 = guarantorFrom(b.MedicalProxy, "body", "medical_proxy")
	return info, fault.Join(err1, err2, err3)
}

func (a *API) putInfo(ctx context.Context, c Caller, in *putInfoIn) (*out[infoBody], error) {
	info, err := in.Body.info()
	if err != nil {
		return nil, err
	}
	var kept users.Info
	err = a.db.Write(ctx, func(tx *store.Tx) (err error) {
		kept, err = users.PutInfo(ctx, tx, c.Team, in.UserID, info)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(infoOf(kept)), nil
}

func (a *API) latestInfo(ctx context.Context, c Caller, in *UserPath) (*out[infoBody], error) {
	var info users.Info
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		info, err = users.LatestInfo(ctx, tx, c.Team, in.UserID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(infoOf(info)), nil
}
