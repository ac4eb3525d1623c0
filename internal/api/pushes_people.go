package api

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/push"
)

// pushedPeople is what a gateway has gathered of several users.
type pushedPeople struct {
	Stage    string         `json:"stage" enum:"daily" doc:"History is pushed for one user at a time."`
	Provider string         `json:"provider" doc:"A provider of the catalogue whose auth_type is sdk, or manual."`
	TimeZone string         `json:"time_zone,omitempty" doc:"IANA zone of the devices, for values that state no offset."`
	Source   *pushedSource  `json:"source,omitempty" doc:"Where samples come from that do not say so themselves."`
	Users    []pushedPerson `json:"users" maxItems:"1000" doc:"Each user once; 100,000 samples in all."`
}

type pushedPerson struct {
	UserID   users.ID                  `json:"user_id" format:"uuid"`
	TimeZone string                    `json:"time_zone,omitempty" doc:"Instead of the one above."`
	Source   *pushedSource             `json:"source,omitempty" doc:"Instead of the one above."`
	Series   map[string][]pushedSample `json:"series" doc:"Samples by the name of their resource."`
}

type peopleIn struct{ RawBody []byte }

// personBody is what became of one user's samples. With success false nothing
// of them is stored.
type personBody struct {
	UserID users.ID `json:"user_id" format:"uuid"`
	PushCounts
	Rejected []seriesRejectBody `json:"rejected"`
	Status   int                `json:"status,omitempty" doc:"Of a user that was refused: the status that a push for this user alone would be answered with."`
	Detail   any                `json:"detail,omitempty" doc:"Of a user that was refused: the detail of that answer."`
}

type pushedPeopleBody struct {
	Users []personBody `json:"users" doc:"In the order in which they were sent."`
}

// pushPeople is pushSeries for several users: each one's samples are stored
// whole or not at all, and the refusal of one does not touch the others. What is
// no refusal, such as a database that is away, is the answer to the whole
// request; sent again, what was stored is unchanged.
func (a *API) pushPeople(ctx context.Context, c Caller, in *peopleIn) (*out[pushedPeopleBody], error) {
	body, err := push.ParsePeople(in.RawBody)
	if err != nil {
		return nil, err
	}
	if err := pushable(&body.Head); err != nil {
		return nil, err
	}
	all := make([]wearables.Push, len(body.Each))
	for i := range body.Each {
		p := &body.Each[i]
		all[i].User = users.ID(p.User)
		packed := ledger.Pack(ledger.Series, p.Provider, "", p.Text).About(p.First())
		all[i].Batch = p.Batch()
		all[i].Batch.Also = a.keepSamples(c, all[i].User, packed)
	}
	a.Wearables.PushAll(ctx, c.Team, all)
	told := pushedPeopleBody{make([]personBody, len(all))}
	for i := range all {
		if told.Users[i], err = a.toldOf(ctx, &body.Each[i], &all[i]); err != nil {
			return nil, err
		}
	}
	return answer(told), nil
}

// toldOf is what the answer says of one user. The error is the whole request's.
func (a *API) toldOf(ctx context.Context, p *push.Person, one *wearables.Push) (personBody, error) {
	if one.Err == nil {
		stored := seriesTold(p.Series, one.Result)
		return personBody{UserID: one.User, PushCounts: stored.PushCounts, Rejected: stored.Rejected}, nil
	}
	body := personBody{UserID: one.User, Rejected: []seriesRejectBody{}}
	if kind := fault.KindOf(one.Err); kind == fault.Internal || kind == fault.Unavailable {
		return body, one.Err
	}
	refused := a.refusal(ctx, one.Err)
	body.Status, body.Detail = refused.status, refused.detail
	return body, nil
}
