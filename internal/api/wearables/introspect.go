package wearables

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/storage"
)

func (h *Handlers) introspectRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/introspect/resources", h.introspectResources, "List statistics of your users' data, by provider and resource"),
		api.Get("/v2/introspect/historical_pull", h.introspectHistory, "List the progress of your users' histories, by provider and resource"),
	}
}

type introspectIn struct {
	UserID     string `query:"user_id" format:"uuid" doc:"Return only this user."`
	Provider   string `query:"provider" doc:"Return only this provider, by its slug."`
	UserLimit  int64  `query:"user_limit" default:"50" minimum:"1" maximum:"500" doc:"Largest number of users on a page."`
	NextCursor string `query:"next_cursor" doc:"next_cursor of the previous page."`
	Cursor     string `query:"cursor" deprecated:"true" doc:"The same as next_cursor."`
}

// known refuses an unknown provider. An empty answer for it would say that the provider
// sent no data.
//
// Reference 7.10, provider.
func (in *introspectIn) known() error {
	if _, ok := providers.Find(in.Provider); ok || in.Provider == "" {
		return nil
	}
	return fault.NotInEnum(providers.Slugs()).At("query", "provider").WithInput(in.Provider)
}

// resourcesBody contains the statistics of data, by user, provider and resource.
//
// Reference 7.10, UserResourcesResponse.
type resourcesBody struct {
	Data       []userResourcesBody `json:"data"`
	Next       *string             `json:"next" deprecated:"true" doc:"The same as next_cursor."`
	NextCursor *string             `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

type userResourcesBody struct {
	UserID   users.ID                             `json:"user_id" format:"uuid"`
	Provider map[string]map[string]statisticsBody `json:"provider" doc:"States by provider slug, then by resource."`
}

type statisticsBody struct {
	LastAttempt lastAttemptBody      `json:"last_attempt" doc:"Last batch that contained the resource."`
	OldestData  api.OrNull[api.Time] `json:"oldest_data"`
	NewestData  api.OrNull[api.Time] `json:"newest_data"`
	SentCount   int64                `json:"sent_count" doc:"Number of data events about the resource."`
}

type lastAttemptBody struct {
	Timestamp api.Time `json:"timestamp"`
	Status    string   `json:"status" enum:"success,failure" doc:"Result of the last batch. failure means that nothing in the batch could be stored."`
}

func (h *Handlers) introspectResources(ctx context.Context, c api.Caller, in *introspectIn) (*api.Out[resourcesBody], error) {
	if err := in.known(); err != nil {
		return nil, err
	}
	var page userPage
	var heard storage.StatisticsByUser
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if page, err = in.users(ctx, tx, c); err != nil {
			return err
		}
		heard, err = storage.StatisticsOf(ctx, tx, c.Team.UUID(), page.within(in.Provider))
		return err
	})
	if err != nil {
		return nil, err
	}
	body := resourcesBody{Data: []userResourcesBody{}, Next: page.next, NextCursor: page.next}
	for _, user := range page.users {
		row := userResourcesBody{user, map[string]map[string]statisticsBody{}}
		for _, provider := range page.providers(user, in.Provider, heard[user.UUID()]) {
			row.Provider[provider] = map[string]statisticsBody{}
			for resource, s := range heard[user.UUID()][provider] {
				row.Provider[provider][resource] = statisticsOf(s)
			}
		}
		body.Data = append(body.Data, row)
	}
	return api.Answer(body), nil
}

func statisticsOf(s storage.Statistics) statisticsBody {
	status := "success"
	if !s.Stored {
		status = "failure"
	}
	return statisticsBody{lastAttemptBody{api.Time(s.AttemptedAt), status}, api.Nullable(api.TimeOrNull(s.Oldest)), api.Nullable(api.TimeOrNull(s.Newest)), s.Sent}
}

// userPage is a page of users and their connections.
type userPage struct {
	users []users.ID
	links map[users.ID][]connections.Link
	next  *string
}

// userCursor is the last user of the previous page.
type userCursor struct {
	After users.ID `json:"u"`
}

// users reads the requested page.
func (in *introspectIn) users(ctx context.Context, tx *store.Tx, c api.Caller) (page userPage, err error) {
	if in.UserID != "" {
		id, err := ids.Parse[users.User](in.UserID)
		if err != nil {
			return page, fault.New(fault.Invalid, "Input should be a valid UUID").At("query", "user_id").WithType("uuid_parsing")
		}
		if err := users.Exists(ctx, tx, c.Team, id); err != nil {
			return page, err
		}
		page.users = []users.ID{id}
	} else if err := in.walk(ctx, tx, c, &page); err != nil {
		return page, err
	}
	page.links, err = connections.Links(ctx, tx, c.Team, page.users...)
	return page, err
}

func (in *introspectIn) walk(ctx context.Context, tx *store.Tx, c api.Caller, page *userPage) (err error) {
	cursor := in.NextCursor
	if cursor == "" {
		cursor = in.Cursor
	}
	var at userCursor
	if cursor != "" {
		if err := paging.Decode(cursor, &at); err != nil {
			return err
		}
	}
	if page.users, err = users.ListIDs(ctx, tx, c.Team, at.After, in.UserLimit+1); err != nil {
		return err
	}
	if int64(len(page.users)) > in.UserLimit {
		page.users = page.users[:in.UserLimit]
		next := paging.Encode(userCursor{page.users[in.UserLimit-1]})
		page.next = &next
	}
	return nil
}

// within returns the range from the first to the last user of the page, for one provider
// or for all.
func (p *userPage) within(provider string) storage.UserRange {
	r := storage.UserRange{Provider: provider}
	if n := len(p.users); n > 0 {
		r.First, r.Last = p.users[0].UUID(), p.users[n-1].UUID()
	}
	return r
}

// providers returns the slugs of the providers that a user is connected to or has data
// of. only limits the connections to one provider; "" means all.
func (p *userPage) providers(user users.ID, only string, heard map[string]map[string]storage.Statistics) (slugs []string) {
	for slug := range heard {
		slugs = append(slugs, slug)
	}
	for _, link := range p.links[user] {
		if slug := link.Provider.Slug; (only == "" || slug == only) && !slices.Contains(slugs, slug) {
			slugs = append(slugs, slug)
		}
	}
	return slugs
}

// since returns the time at which a user's connection to a provider was made, or the
// zero time if there is none.
func (p *userPage) since(user uuid.UUID, provider string) time.Time {
	for _, link := range p.links[ids.FromUUID[users.User](user)] {
		if link.Provider.Slug == provider {
			return link.CreatedOn
		}
	}
	return time.Time{}
}

// pullsBody contains the progress of histories, by user, provider and resource.
//
// Reference 7.10, UserHistoricalPullsResponse.
type pullsBody struct {
	Data       []userPullsBody `json:"data"`
	Next       *string         `json:"next" deprecated:"true" doc:"The same as next_cursor."`
	NextCursor *string         `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

type userPullsBody struct {
	UserID   users.ID                     `json:"user_id" format:"uuid"`
	Provider map[string]providerPullsBody `json:"provider" doc:"States by provider slug."`
}

type providerPullsBody struct {
	Pulled    map[string]pullBody `json:"pulled" doc:"Pulls by resource, since the provider was connected."`
	NotPulled []string            `json:"not_pulled" doc:"Resources that the provider supports and whose history was neither requested nor sent."`
}

// pullStatusWord is the progress of a pull.
type pullStatusWord string

func (pullStatusWord) Schema(huma.Registry) *huma.Schema { return api.Enum(storage.PullStatuses) }

type pullBody struct {
	Status       pullStatusWord       `json:"status"`
	RangeStart   api.OrNull[api.Time] `json:"range_start"`
	RangeEnd     api.OrNull[api.Time] `json:"range_end"`
	Timeline     timelineBody         `json:"timeline"`
	DaysWithData int64                `json:"days_with_data" doc:"Number of days of the range that have data. It is 0 until the pull has ended."`
	Release      string               `json:"release" doc:"Version of this service."`
	Attempts     int                  `json:"attempts" doc:"Number of attempts."`
	TraceID      *string              `json:"trace_id" doc:"Id of the import that contains the history."`
	ErrorDetails *string              `json:"error_details"`
}

// TransformSchema describes the values of error_details.
func (pullBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["error_details"].Description = "Reason of the failure of the last attempt. " +
		"Errors that Hale retries: provider_rate_limit_exceeded, provider_unavailable, transport_failure, resource_contention. " +
		"Permanent errors: non_retriable_error, unexpected_error, retry_quota_exhausted."
	return s
}

type timelineBody struct {
	ScheduledAt api.Time             `json:"scheduled_at"`
	StartedAt   api.OrNull[api.Time] `json:"started_at"`
	EndedAt     api.OrNull[api.Time] `json:"ended_at"`
}

func (h *Handlers) introspectHistory(ctx context.Context, c api.Caller, in *introspectIn) (*api.Out[pullsBody], error) {
	if err := in.known(); err != nil && !slices.Contains(labs, in.Provider) {
		return nil, err
	}
	var page userPage
	var heard storage.StatisticsByUser
	var pulls storage.Pulls
	var pasts map[users.ID]map[string]imports.History
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if page, err = in.users(ctx, tx, c); err != nil {
			return err
		}
		within := page.within(in.Provider)
		if heard, err = storage.StatisticsOf(ctx, tx, c.Team.UUID(), within); err != nil {
			return err
		}
		if pulls, err = storage.PullsOf(ctx, tx, c.Team.UUID(), within, heard, page.since); err != nil {
			return err
		}
		pasts, err = imports.Histories(ctx, tx, c.Team, users.ID(within.First), users.ID(within.Last))
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
			row.Provider[provider] = h.pullsOf(provider, found)
		}
		body.Data = append(body.Data, row)
	}
	return api.Answer(body), nil
}

func (h *Handlers) pullsOf(provider string, pulls map[string]storage.Pull) providerPullsBody {
	body := providerPullsBody{Pulled: map[string]pullBody{}, NotPulled: []string{}}
	for resource, p := range pulls {
		body.Pulled[resource] = h.pullOf(p)
	}
	for _, resource := range providers.FindOrName(provider).SupportedResources {
		if _, pulled := pulls[resource]; !pulled && wearables.KeepsData(resource) {
			body.NotPulled = append(body.NotPulled, resource)
		}
	}
	slices.Sort(body.NotPulled)
	return body
}

func (h *Handlers) pullOf(p storage.Pull) pullBody {
	started := api.TimeOrNull(p.Started)
	scheduled := started
	if !p.Scheduled.IsZero() {
		scheduled = api.TimeOrNull(&p.Scheduled)
	}
	return pullBody{
		Status: pullStatusWord(p.Status), RangeStart: api.Nullable(api.TimeOrNull(p.RangeStart)), RangeEnd: api.Nullable(api.TimeOrNull(p.RangeEnd)),
		Timeline:     timelineBody{*scheduled, api.Nullable(started), api.Nullable(api.TimeOrNull(p.Ended))},
		DaysWithData: p.Days, Release: h.Version, Attempts: p.Attempts, TraceID: api.TextOrNull(p.Trace), ErrorDetails: api.TextOrNull(p.Problem),
	}
}

// withPast adds the progress of an import: the resources that it has begun, or all that
// it may contain while that is unknown. Resources with a complete history are
// unchanged.
func withPast(pulls map[string]storage.Pull, provider string, past imports.History) map[string]storage.Pull {
	all := maps.Clone(pulls)
	if all == nil {
		all = map[string]storage.Pull{}
	}
	var open []string
	for resource, p := range pulls {
		if p.Status == storage.PullInProgress {
			open = append(open, resource)
		}
	}
	if len(open) == 0 {
		open = providers.FindOrName(provider).SupportedResources
	}
	state := storage.Pull{
		Status: statusOfPast(past), Scheduled: past.Created, Started: past.Started, Ended: past.Finished,
		Attempts: past.Attempts, Problem: string(past.Problem), Trace: past.Import.String(),
	}
	for _, resource := range open {
		if _, there := all[resource]; wearables.KeepsData(resource) && (!there || all[resource].Status == storage.PullInProgress) {
			all[resource] = state
		}
	}
	return all
}

func statusOfPast(past imports.History) storage.PullStatus {
	switch {
	case past.Status == imports.Failed:
		return storage.PullFailure
	case past.Status == imports.Running:
		return storage.PullInProgress
	case past.Problem != "":
		return storage.PullRetrying
	}
	return storage.PullScheduled
}
