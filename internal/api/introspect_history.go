package api

import (
	"context"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/providers"
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
	Attempts     int                  `json:"attempts" doc:"How often it was begun."`
	TraceID      *string              `json:"trace_id" doc:"The id of the import that brings it."`
	ErrorDetails *string              `json:"error_details"`
}

// TransformSchema says what error_details may be.
func (pullBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["error_details"].Description = "Why the last attempt failed. " +
		"To be tried again: provider_rate_limit_exceeded, provider_unavailable, transport_failure, resource_contention. " +
		"For good: non_retriable_error, unexpected_error, retry_quota_exhausted."
	return s
}

type timelineBody struct {
	ScheduledAt Time         `json:"scheduled_at"`
	StartedAt   orNull[Time] `json:"started_at"`
	EndedAt     orNull[Time] `json:"ended_at"`
}

func (a *API) introspectHistory(ctx context.Context, c Caller, in *introspectIn) (*out[pullsBody], error) {
	if err := in.known(); err != nil && !isLab(in.Provider) {
		return nil, err
	}
	var page userPage
	var heard wearables.Heard
	var pulls wearables.Pulls
	var pasts map[users.ID]map[string]imports.Past
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		if page, err = in.users(ctx, tx, c); err != nil {
			return err
		}
		within := page.within(in.Provider)
		if heard, err = wearables.StatisticsOf(ctx, tx, c.Team.UUID(), within); err != nil {
			return err
		}
		if pulls, err = wearables.PullsOf(ctx, tx, c.Team.UUID(), within, heard, page.since); err != nil {
			return err
		}
		pasts, err = imports.Pasts(ctx, tx, c.Team, users.ID(within.First), users.ID(within.Last))
		return err
	})
	if err != nil {
		return nil, err
	}
	body := pullsBody{Data: []userPullsBody{}, Next: page.next, NextCursor: page.next}
	for _, user := range page.users {
		row := userPullsBody{user, map[string]providerPullsBody{}}
		all := page.providers(user, in.Provider, heard[user.UUID()])
		for provider := range pasts[user] { // maybe nothing was heard of it yet
			if (in.Provider == "" || in.Provider == provider) && !slices.Contains(all, provider) {
				all = append(all, provider)
			}
		}
		for _, provider := range all {
			found := pulls[user.UUID()][provider]
			if past, ok := pasts[user][provider]; ok {
				found = withPast(found, provider, past)
			}
			row.Provider[provider] = a.pullsOf(provider, found)
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
	started := wireTime(p.Started)
	scheduled := started
	if !p.Scheduled.IsZero() {
		scheduled = wireTime(&p.Scheduled)
	}
	return pullBody{
		Status: p.Status, RangeStart: nullable(wireTime(p.RangeStart)), RangeEnd: nullable(wireTime(p.RangeEnd)),
		Timeline:     timelineBody{*scheduled, nullable(started), nullable(wireTime(p.Ended))},
		DaysWithData: p.Days, Release: a.Version, Attempts: p.Attempts, TraceID: orNone(p.Trace), ErrorDetails: orNone(p.Problem),
	}
}

// withPast tells of an import how far it is: of the resources that it has
// begun to bring, and of all that it may bring while that is not known.
// Resources whose past is there stay as they are.
func withPast(pulls map[string]wearables.Pull, provider string, past imports.Past) map[string]wearables.Pull {
	all := maps.Clone(pulls)
	if all == nil {
		all = map[string]wearables.Pull{}
	}
	var open []string
	for resource, p := range pulls {
		if p.Status == wearables.PullInProgress {
			open = append(open, resource)
		}
	}
	if len(open) == 0 {
		open = providers.Named(provider).SupportedResources
	}
	state := wearables.Pull{
		Status: statusOfPast(past), Scheduled: past.Created, Started: past.Started, Ended: past.Finished,
		Attempts: past.Attempts, Problem: string(past.Problem), Trace: past.Import.String(),
	}
	for _, resource := range open {
		if _, there := all[resource]; wearables.KeepsData(resource) && (!there || all[resource].Status == wearables.PullInProgress) {
			all[resource] = state
		}
	}
	return all
}

func statusOfPast(past imports.Past) wearables.PullStatus {
	switch {
	case past.Status == imports.Failed:
		return wearables.PullFailure
	case past.Status == imports.Running:
		return wearables.PullInProgress
	case past.Problem != "":
		return wearables.PullRetrying
	}
	return wearables.PullScheduled
}
