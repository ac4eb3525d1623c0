package api

import (
	"context"
	"slices"

	"hale/internal/providers"
	"hale/internal/store"
	"hale/internal/users"
	"hale/internal/wearables"
)

// pullsBody and what is in it are by user, provider and resource.
//
// Reference 7.10, UserHistoricalPullsResponse.
type pullsBody struct {
	Data       []userPullsBody `json:"data"`
	Next       *string         `json:"next" deprecated:"true" doc:"The same as next_cursor."`
	NextCursor *string         `json:"next_cursor" doc:"Pass it as next_cursor to go on; null at the end."`
}

type userPullsBody struct {
	UserID   users.ID                     `json:"user_id" format:"uuid"`
	Provider map[string]providerPullsBody `json:"provider" doc:"By provider slug."`
}

type providerPullsBody struct {
	Pulled    map[string]pullBody `json:"pulled" doc:"By resource, since the provider was connected."`
	NotPulled []string            `json:"not_pulled" doc:"Resources that the provider can have and whose past was not asked for or sent."`
}

type pullBody struct {
	Status       wearables.PullStatus `json:"status" enum:"success,failure,in_progress,scheduled,retrying"`
	RangeStart   orNull[Time]         `json:"range_start"`
	RangeEnd     orNull[Time]         `json:"range_end"`
	Timeline     timelineBody         `json:"timeline"`
	DaysWithData int64                `json:"days_with_data" doc:"Days of the range that have data; 0 until the pull has ended."`
	Release      string               `json:"release" doc:"Version of this service."`
	TraceID      *string              `json:"trace_id"`
	ErrorDetails *string              `json:"error_details"`
}

type timelineBody struct {
	ScheduledAt Time         `json:"scheduled_at"`
	StartedAt   orNull[Time] `json:"started_at"`
	EndedAt     orNull[Time] `json:"ended_at"`
}

func (a *API) introspectHistory(ctx context.Context, c Caller, in *introspectIn) (*out[pullsBody], error) {
	var page userPage
	var heard wearables.Heard
	var pulls wearables.Pulls
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		if page, err = in.users(ctx, tx, c); err != nil {
			return err
		}
		within := page.within(in.Provider)
		if heard, err = wearables.StatisticsOf(ctx, tx, c.Team.UUID(), within); err != nil {
			return err
		}
		pulls, err = wearables.PullsOf(ctx, tx, c.Team.UUID(), within, heard, page.since)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := pullsBody{Data: []userPullsBody{}, Next: page.next, NextCursor: page.next}
	for _, user := range page.users {
		row := userPullsBody{user, map[string]providerPullsBody{}}
		for _, provider := range page.providers(user, in.Provider, heard[user.UUID()]) {
			row.Provider[provider] = a.pullsOf(provider, pulls[user.UUID()][provider])
		}
		body.Data = append(body.Data, row)
	}
	return answer(body), nil
}

func (a *API) pullsOf(provider string, pulls map[string]wearables.Pull) providerPullsBody {
	body := providerPullsBody{Pulled: map[string]pullBody{}, NotPulled: []string{}}
	for resource, p := range pulls {
		body.Pulled[resource] = a.pullOf(p)
	}
	for _, resource := range providers.Named(provider).SupportedResources {
		if _, pulled := pulls[resource]; !pulled && wearables.KeepsData(resource) {
			body.NotPulled = append(body.NotPulled, resource)
		}
	}
	slices.Sort(body.NotPulled)
	return body
}

func (a *API) pullOf(p wearables.Pull) pullBody {
	started := Time(p.Started)
	return pullBody{
		Status: p.Status, RangeStart: nullable(wireTime(p.RangeStart)), RangeEnd: nullable(wireTime(p.RangeEnd)),
		Timeline:     timelineBody{started, nullable(&started), nullable(wireTime(p.Ended))},
		DaysWithData: p.Days, Release: a.Version,
	}
}
