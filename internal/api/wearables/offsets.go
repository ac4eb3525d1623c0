package wearables

import (
	"context"
	"time"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/storage"
)

func (h *Handlers) offsetRoutes() []api.Route {
	rt := api.Get("/v2/timeseries/{user_id}/{resource}/offsets", h.readOffsets, "List the time zone offsets of a user's samples, and their origins")
	return []api.Route{rt}
}

// offsetsBody is an addition of ours.
type offsetsBody struct {
	Groups map[string][]offsetsOfSource `json:"groups" doc:"Groups by provider slug, one for each source."`
}

type offsetsOfSource struct {
	Source api.JSONText[sourceBody] `json:"source"`
	Data   []offsetCount            `json:"data" doc:"Offsets and their origins, in the order in which they first occur."`
}

type offsetCount struct {
	TimezoneOffset *int     `json:"timezone_offset" doc:"Offset in seconds east of UTC. It is null if unknown."`
	Found          string   `json:"found" enum:"device,provider,fallback,none" doc:"Origin of the offset. device: the person's device, or the person who typed the value in. provider: the provider. fallback: the user's fallback_time_zone. none: no offset is known."`
	Count          int64    `json:"count" doc:"Number of samples."`
	First          api.Time `json:"first" doc:"Start of the first of these samples."`
	Last           api.Time `json:"last" doc:"Start of the last of these samples."`
}

type offsetsIn struct {
	UserID    users.ID   `path:"user_id" format:"uuid"`
	Resource  seriesName `path:"resource"`
	StartDate string     `query:"start_date" required:"true" doc:"First day (YYYY-MM-DD, UTC) or instant (ISO 8601), inclusive."`
	EndDate   string     `query:"end_date" doc:"Last day or instant of the range, inclusive."`
	Provider  string     `query:"provider" doc:"Return only this provider's samples."`
}

// readOffsets counts the offsets of samples.
//
// Reference 7.10, time zones.
func (h *Handlers) readOffsets(ctx context.Context, c api.Caller, in *offsetsIn) (*api.Out[offsetsBody], error) {
	start, end, err := api.ParseRange(in.StartDate, in.EndDate)
	if err != nil {
		return nil, err
	}
	q := storage.SamplesQuery{Resource: string(in.Resource), Provider: in.Provider, From: start.From, To: end.To}
	var all []storage.SourceOffsets
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		if err := users.Exists(ctx, tx, c.Team, in.UserID); err != nil {
			return err
		}
		all, err = storage.OffsetsOf(ctx, tx, c.Team.UUID(), in.UserID.UUID(), q)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := offsetsBody{map[string][]offsetsOfSource{}}
	for _, of := range all {
		group := offsetsOfSource{Source: wearables.AppendSource(nil, of.Source, h.logos())}
		for _, o := range of.Offsets {
			group.Data = append(group.Data, offsetCount{offsetOrNull(o.Seconds), foundBy(o.How, of.Source.Provider), o.Samples, api.Time(time.UnixMicro(o.First)), api.Time(time.UnixMicro(o.Last))})
		}
		body.Groups[of.Source.Provider] = append(body.Groups[of.Source.Provider], group)
	}
	return api.Answer(body), nil
}

// foundBy returns the origin of an offset. For pushed and typed values it is the device
// or the person. For all other values it is the provider, in its files and replies.
func foundBy(how storage.OffsetOrigin, provider string) string {
	switch {
	case how == storage.UnstatedOffset:
		return "none"
	case how == storage.ByFallback:
		return "fallback"
	case provider == users.Manual || providers.FindOrName(provider).PushedByPhone():
		return "device"
	}
	return "provider"
}

func offsetOrNull(seconds int32) *int {
	if seconds == wearables.NoOffset {
		return nil
	}
	east := int(seconds)
	return &east
}
