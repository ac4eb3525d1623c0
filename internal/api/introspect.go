package api

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/providers"
)

func (a *API) introspectRoutes() []route {
	return []route{
		get("/v2/introspect/resources", a.introspectResources, "See what was heard of your users' resources"),
		get("/v2/introspect/historical_pull", a.introspectHistory, "See how far your users' histories are"),
	}
}

type introspectIn struct {
	UserID     string `query:"user_id" format:"uuid" doc:"Only this user."`
	Provider   string `query:"provider" doc:"Only this provider: its slug."`
	UserLimit  int64  `query:"user_limit" default:"50" minimum:"1" maximum:"500" doc:"Users in a page."`
	NextCursor string `query:"next_cursor" doc:"Where the page before ended."`
	Cursor     string `query:"cursor" deprecated:"true" doc:"The same as next_cursor."`
}

// known wants a provider that exists, where one is named: an answer without it
// would say that nothing was heard of it.
//
// Reference 7.10, provider.
func (in *introspectIn) known() error {
	if _, ok := providers.Find(in.Provider); ok || in.Provider == "" {
		return nil
	}
	return fault.New(fault.Invalid, "Value error, must be a provider of the catalogue").At("query", "provider").WithType("enum").WithInput(in.Provider)
}

// resourcesBody and what is in it are by user, provider and resource.
//
// Reference 7.10, UserResourcesResponse.
type resourcesBody struct {
	Data       []userResourcesBody `json:"data"`
	Next       *string             `json:"next" deprecated:"true" doc:"The same as next_cursor."`
	NextCursor *string             `json:"next_cursor" doc:"Pass it as next_cursor to go on; null at the end."`
}

type userResourcesBody struct {
	UserID   users.ID                             `json:"user_id" format:"uuid"`
	Provider map[string]map[string]statisticsBody `json:"provider" doc:"By provider slug, then by resource."`
}

type statisticsBody struct {
	LastAttempt lastAttemptBody `json:"last_attempt" doc:"The last batch that spoke of the resource."`
	OldestData  orNull[Time]    `json:"oldest_data"`
	NewestData  orNull[Time]    `json:"newest_data"`
	SentCount   int64           `json:"sent_count" doc:"Data events about the resource."`
}

type lastAttemptBody struct {
	Timestamp Time   `json:"timestamp"`
	Status    string `json:"status" enum:"success,failure" doc:"failure: nothing in the batch could be stored."`
}

func (a *API) introspectResources(ctx context.Context, c Caller, in *introspectIn) (*out[resourcesBody], error) {
	if err := in.known(); err != nil {
		return nil, err
	}
	var page userPage
	var heard wearables.Heard
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		if page, err = in.users(ctx, tx, c); err != nil {
			return err
		}
		heard, err = wearables.StatisticsOf(ctx, tx, c.Team.UUID(), page.within(in.Provider))
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
	return answer(body), nil
}

func statisticsOf(s wearables.Statistics) statisticsBody {
	status := "success"
	if !s.Stored {
		status = "failure"
	}
	return statisticsBody{lastAttemptBody{Time(s.AttemptedAt), status}, nullable(wireTime(s.Oldest)), nullable(wireTime(s.Newest)), s.Sent}
}

// userPage is a page of users and their connections.
type userPage struct {
	users []users.ID
	links map[users.ID][]connections.Link
	next  *string
}

// userCursor is the last user of the page before.
type userCursor struct {
	After users.ID `json:"u"`
}

// users reads the page that was asked for.
func (in *introspectIn) users(ctx context.Context, tx *store.Tx, c Caller) (page userPage, err error) {
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

func (in *introspectIn) walk(ctx context.Context, tx *store.Tx, c Caller, page *userPage) (err error) {
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
	if page.users, err = users.Walk(ctx, tx, c.Team, at.After, in.UserLimit+1); err != nil {
		return err
	}
	if int64(len(page.users)) > in.UserLimit {
		page.users = page.users[:in.UserLimit]
		next := paging.Encode(userCursor{page.users[in.UserLimit-1]})
		page.next = &next
	}
	return nil
}

// within is the range of the page's users.
func (p *userPage) within(provider string) wearables.UserRange {
	r := wearables.UserRange{Provider: provider}
	if n := len(p.users); n > 0 {
		r.First, r.Last = p.users[0].UUID(), p.users[n-1].UUID()
	}
	return r
}

// providers are those that a user is connected to or that were heard of.
func (p *userPage) providers(user users.ID, only string, heard map[string]map[string]wearables.Statistics) (slugs []string) {
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

// since is when a user's connection to a provider was made; the beginning of
// time when there is none.
func (p *userPage) since(user uuid.UUID, provider string) time.Time {
	for _, link := range p.links[ids.From[users.User](user)] {
		if link.Provider.Slug == provider {
			return link.CreatedOn
		}
	}
	return time.Time{}
}
