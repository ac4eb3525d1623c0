package api

import (
	"context"

	"hale/internal/wearables"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/push"
)

// pushedSeries is what a phone has of several resources when it wakes up.
type pushedSeries struct {
	PushHead
	Source *pushedSource             `json:"source,omitempty" doc:"Where samples come from that do not say so themselves."`
	Series map[string][]pushedSample `json:"series" doc:"Samples by the name of their resource; 100,000 in all."`
}

type pushedSource struct {
	Type     *string `json:"type,omitempty" doc:"phone, watch, app, …"`
	AppID    *string `json:"app_id,omitempty"`
	DeviceID *string `json:"device_id,omitempty" format:"uuid"`
}

type seriesIn struct {
	UserPath
	RawBody []byte
}

// seriesRejectBody tells why some of one series is not stored.
type seriesRejectBody struct {
	Resource string `json:"resource" doc:"The series, by the name of its resource."`
	Reason   string `json:"reason" doc:"The rule that was broken, such as implausible_value or outside_ingestion_bounds."`
	Count    int    `json:"count"`
	First    int    `json:"first" doc:"Index of the first one in its series."`
}

type pushedSeriesBody struct {
	PushCounts
	Rejected []seriesRejectBody `json:"rejected"`
}

// pushSeries is pushSamples for several resources at once: all of it is stored
// in one transaction, or nothing is.
func (a *API) pushSeries(ctx context.Context, c Caller, in *seriesIn) (*out[pushedSeriesBody], error) {
	body, err := push.ParseSeries(in.RawBody)
	if err != nil {
		return nil, err
	}
	if err := pushable(&body.Head); err != nil {
		return nil, err
	}
	packed := ledger.Pack(ledger.Series, body.Provider, "", in.RawBody).About(body.First())
	batch := body.Batch()
	batch.Also = a.keepSamples(c, in.UserID, packed)
	if batch.Push, err = a.tellsHistory(ctx, c, batch.Stage); err != nil {
		return nil, err
	}
	user, result, err := a.Wearables.Push(ctx, c.Team, in.UserID, batch)
	if err != nil {
		return nil, err
	}
	events := make([]string, len(body.Parts))
	for i := range body.Parts {
		events[i] = body.Parts[i].Resource.Event
	}
	if err := a.finishHistory(ctx, user, &body.Head, events, result); err != nil {
		return nil, err
	}
	return answer(seriesTold(body, result)), nil
}

func seriesTold(body *push.Series, result wearables.Result) pushedSeriesBody {
	told := pushedSeriesBody{countsOf(result), []seriesRejectBody{}}
	for i := range body.Parts {
		part := &body.Parts[i]
		for _, r := range part.Rejects(result) {
			told.Rejected = append(told.Rejected, seriesRejectBody{part.Resource.Name, r.Reason, r.Count, r.First})
		}
	}
	return told
}
