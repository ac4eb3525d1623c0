package api

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
)

// userBody is a user on the wire.
//
// Spec: User.
type userBody struct {
	UserID            users.ID             `json:"user_id" format:"uuid" doc:"Our id of the user."`
	TeamID            teams.ID             `json:"team_id" format:"uuid"`
	ClientUserID      string               `json:"client_user_id" doc:"Your own reference for the user."`
	CreatedOn         Time                 `json:"created_on"`
	ConnectedSources  []connectedSource    `json:"connected_sources"`
	FallbackTimeZone  orNull[timeZoneBody] `json:"fallback_time_zone" doc:"For sources that carry no time zone."`
	FallbackBirthDate *birthDateBody       `json:"fallback_birth_date,omitempty" doc:"For providers that give no age."`
	IngestionStart    *civil.Date          `json:"ingestion_start" format:"date" doc:"First day to take data of."`
	IngestionEnd      *civil.Date          `json:"ingestion_end" format:"date" doc:"Last day to take data of."`
}

// connectedSource names a provider twice: provider is the truer word, source
// the one that callers know.
//
// Spec: User, ConnectedSource. Appendix A 6.
type connectedSource struct {
	CreatedOn Time         `json:"created_on"`
	Source    providerName `json:"source"`
	Provider  providerName `json:"provider"`
}

type timeZoneBody struct {
	ID         string `json:"id" doc:"IANA name, such as Europe/Helsinki."`
	SourceSlug string `json:"source_slug" doc:"manual when you set it."`
	UpdatedAt  Time   `json:"updated_at"`
}

type birthDateBody struct {
	Value      civil.Date `json:"value" format:"date"`
	SourceSlug string     `json:"source_slug" doc:"manual when you set it."`
	UpdatedAt  Time       `json:"updated_at"`
}

func userOf(u users.User, links []connections.Link) userBody {
	body := userBody{
		UserID: u.ID, TeamID: u.Team, ClientUserID: u.ClientUserID, CreatedOn: Time(u.CreatedOn),
		ConnectedSources: make([]connectedSource, len(links)), IngestionStart: u.IngestionStart, IngestionEnd: u.IngestionEnd,
	}
	for i, link := range links {
		name := nameOf(link.Provider)
		body.ConnectedSources[i] = connectedSource{Time(link.CreatedOn), name, name}
	}
	if z := u.TimeZone; z != nil {
		body.FallbackTimeZone = nullable(&timeZoneBody{z.Name, z.SourceSlug, Time(z.UpdatedAt)})
	}
	if b := u.BirthDate; b != nil {
		body.FallbackBirthDate = &birthDateBody{b.Value, b.SourceSlug, Time(b.UpdatedAt)}
	}
	return body
}

// withLinks reads the connections of some users and makes them bodies.
func withLinks(ctx context.Context, tx *store.Tx, team teams.ID, all []users.User) ([]userBody, error) {
	bodies := make([]userBody, len(all))
	ids := make([]users.ID, len(all))
	for i, u := range all {
		ids[i] = u.ID
	}
	links, err := connections.Links(ctx, tx, team, ids...)
	if err != nil {
		return nil, err
	}
	for i, u := range all {
		bodies[i] = userOf(u, links[u.ID])
	}
	return bodies, nil
}
