package api

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/push"
)

// PushHead is what every push says about itself. It has a capital because the
// document does not see into embedded types without one.
type PushHead struct {
	Stage        string `json:"stage" enum:"historical,daily" doc:"historical fills the past of a new connection and is announced when it is complete; daily values are announced one by one."`
	Provider     string `json:"provider" doc:"A provider of the catalogue whose auth_type is sdk, or manual."`
	StartDate    string `json:"start_date,omitempty" doc:"Start of the range that is covered: a date or an instant."`
	EndDate      string `json:"end_date,omitempty" doc:"Its end, inclusive."`
	TimeZone     string `json:"time_zone,omitempty" doc:"IANA zone of the device, for values that state no offset."`
	IsFinalChunk bool   `json:"is_final_chunk,omitempty" doc:"No more history of this resource follows."`
}

// pushedSamples is what a phone sends.
type pushedSamples struct {
	PushHead
	Data []pushedSample `json:"data" maxItems:"100000"`
}

// pushedSample may also be written as SDKs do: startDate, endDate,
// sourceBundle, productType.
type pushedSample struct {
	Timestamp      Time     `json:"timestamp" doc:"With an offset. Also start or startDate."`
	End            *Time    `json:"end,omitempty" doc:"Of intervals; also endDate."`
	TimezoneOffset *int     `json:"timezone_offset,omitempty" doc:"Seconds east of UTC."`
	Type           *string  `json:"type,omitempty"`
	Unit           *string  `json:"unit,omitempty" doc:"The resource's own unit when absent; common others are converted."`
	Value          *float64 `json:"value,omitempty" doc:"All resources but blood_pressure."`
	Systolic       *float64 `json:"systolic,omitempty" doc:"mmHg"`
	Diastolic      *float64 `json:"diastolic,omitempty" doc:"mmHg"`
	SourceType     *string  `json:"source_type,omitempty" doc:"phone, watch, app, …; derived from productType when absent."`
	SourceAppID    *string  `json:"source_app_id,omitempty" doc:"Also sourceBundle."`
	SourceDeviceID *string  `json:"source_device_id,omitempty" format:"uuid"`
}

type pushIn struct {
	UserID   users.ID   `path:"user_id" format:"uuid"`
	Resource seriesName `path:"resource"`
	RawBody  []byte
}

// rejectBody tells why some of what was pushed is not stored.
type rejectBody struct {
	Reason string `json:"reason" doc:"The rule that was broken, such as implausible_value or outside_ingestion_bounds."`
	Count  int    `json:"count"`
	First  int    `json:"first" doc:"Index of the first one in data."`
}

// PushCounts is what became of the values of a push, with a capital for the
// same reason.
type PushCounts struct {
	Success   bool `json:"success"`
	Created   int  `json:"created" doc:"New values."`
	Updated   int  `json:"updated" doc:"Values that replaced others."`
	Unchanged int  `json:"unchanged" doc:"Values that were there already; nobody is told."`
}

func countsOf(r wearables.Result) PushCounts {
	return PushCounts{Success: true, Created: r.Created, Updated: r.Updated, Unchanged: r.Unchanged}
}

type pushBody struct {
	PushCounts
	Rejected []rejectBody `json:"rejected"`
}

// pushSamples stores what a phone sends. Sending it again changes nothing.
func (a *API) pushSamples(ctx context.Context, c Caller, in *pushIn) (*out[pushBody], error) {
	r, _ := wearables.ResourceNamed(string(in.Resource))
	if r == nil || !r.Push {
		return nil, fault.New(fault.Invalid, "Value error, this resource cannot be pushed").At("path", "resource")
	}
	body, err := push.Parse(in.RawBody, r)
	if err != nil {
		return nil, err
	}
	if err := pushable(&body.Head); err != nil {
		return nil, err
	}
	// Packed now, while nobody waits for the writer, and before Batch makes other
	// units of the values.
	packed := ledger.PackRows(ledger.Samples, body.Provider, r.Name, in.RawBody, body.Rows).About(body.First())
	batch, rejects := body.Batch(r)
	batch.Also = a.keepSamples(c, in.UserID, packed)
	if batch.Push, err = a.tellsHistory(ctx, c, batch.Stage); err != nil {
		return nil, err
	}
	user, result, err := a.Wearables.Push(ctx, c.Team, in.UserID, batch)
	if err != nil {
		return nil, err
	}
	if err := a.finishPush(ctx, user, &body.Head, r.Event, result); err != nil {
		return nil, err
	}
	return answer(pushed(result, body.Rejects(rejects, result))), nil
}

func (a *API) pushingUser(ctx context.Context, c Caller, id users.ID) (user users.User, err error) {
	err = a.db.Read(ctx, func(tx *store.Tx) error {
		user, err = users.Get(ctx, tx, c.Team, id)
		return err
	})
	return user, err
}

// pushable wants a provider whose data phones send, or manual, and a range that
// does not end before it starts.
func pushable(head *push.Head) error {
	if err := pushedBy(head.Provider); err != nil {
		return err
	}
	if !head.Start.IsZero() && !head.End.IsZero() && head.End.Before(head.Start) {
		return fault.New(fault.Invalid, "Value error, must not be before start_date").At("body", "end_date")
	}
	return nil
}

func pushedBy(slug string) error {
	if p, ok := providers.Find(slug); !ok || !p.PushedByPhone() && slug != users.Manual {
		return fault.New(fault.Invalid, "Value error, must be manual or a provider of the catalogue whose auth_type is sdk").At("body", "provider")
	}
	return nil
}

// tellsHistory says whether history is sent value by value as well, which is a
// team's choice.
//
// Reference 8.5, push_historical_data.
func (a *API) tellsHistory(ctx context.Context, c Caller, stage wearables.Stage) (tells bool, err error) {
	if stage != wearables.Historical {
		return false, nil
	}
	err = a.db.Peek(ctx, func(tx *store.Tx) error {
		team, err := teams.Get(ctx, tx, c.Team)
		tells = team.Settings.PushHistoricalData
		return err
	})
	return tells, err
}

// finishPush announces the end of a resource's history with its last chunk.
func (a *API) finishPush(ctx context.Context, user users.User, head *push.Head, resource string, result wearables.Result) error {
	return a.finishHistory(ctx, user, head, []string{resource}, result)
}

func (a *API) finishHistory(ctx context.Context, user users.User, head *push.Head, resources []string, result wearables.Result) error {
	if head.Stage != wearables.Historical || !head.Final || result.Paused {
		return nil
	}
	done := make(map[string]wearables.Range, len(resources))
	for _, resource := range resources {
		done[resource] = head.Range()
	}
	return a.Wearables.HistoricalDone(ctx, user, head.Provider, done)
}

func pushed(r wearables.Result, rejects []push.Reject) pushBody {
	body := pushBody{countsOf(r), []rejectBody{}}
	for _, reject := range rejects {
		body.Rejected = append(body.Rejected, rejectBody(reject))
	}
	return body
}

// push marks an operation that takes what a phone or the team sends: its body
// is large, it can be sent again under the same Idempotency-Key or without one,
// and a signed-in phone may send its own user's data.
func (rt route) push() route { return rt.pushAll().own() }

// pushAll is push for several users, which no phone may do.
func (rt route) pushAll() route {
	rt.repeats = true
	return rt.raw().sensitive().creates()
}
