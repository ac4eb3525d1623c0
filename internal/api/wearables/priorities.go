package wearables

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/merged"
	"hale/internal/wearables/providers"
)

func (h *Handlers) priorityRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/team/source/priorities", h.listPriorities, "List the priorities of providers"),
		api.Patch("/v2/team/source/priorities", h.setPriorities, "Change the priorities of providers"),
	}
}

// priorityType is a type of data for which providers are ordered.
type priorityType string

// Schema lists the types.
func (priorityType) Schema(huma.Registry) *huma.Schema {
	s := api.EnumOf(merged.DataTypes())
	s.Nullable = false
	s.PrecomputeMessages()
	return s
}

// priorityBody is one provider's priority for one type of data. The reference does not
// define the fields of a row.
//
// Reference 5.10.
type priorityBody struct {
	DataType priorityType `json:"data_type"`
	Provider string       `json:"provider" doc:"Provider slug."`
	Priority int64        `json:"priority" doc:"Priority. The provider with the larger number takes precedence. A provider without a priority has 0."`
}

type listPrioritiesIn struct {
	DataType []priorityType `query:"data_type,explode" maxItems:"50" doc:"Return only these types of data."`
}

type priorityChange struct {
	DataType priorityType `json:"data_type"`
	Provider string       `json:"provider" doc:"Slug of a provider of the catalogue."`
	Priority *int64       `json:"priority" minimum:"-1000000" maximum:"1000000" doc:"Priority. The provider with the larger number takes precedence. Null removes the provider's priority."`
}

// TransformSchema lists the providers.
func (priorityChange) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"provider": api.StateEnum(providers.Slugs())})
}

type setPrioritiesIn struct {
	Body *[]priorityChange `maxItems:"1000" doc:"Providers to change. Other providers keep their priorities. An empty body changes nothing."`
}

func (h *Handlers) listPriorities(ctx context.Context, c api.Caller, in *listPrioritiesIn) (*api.Out[[]priorityBody], error) {
	var all []merged.Priority
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = merged.Priorities(ctx, tx, c.Team.UUID(), api.Words[string](in.DataType)...)
		return err
	})
	return api.Answer(prioritiesOf(all)), err
}

// setPriorities changes priorities and answers with all priorities of the team. The
// reference's client libraries have no way to send it a body.
func (h *Handlers) setPriorities(ctx context.Context, c api.Caller, in *setPrioritiesIn) (*api.Out[[]priorityBody], error) {
	var rows []priorityChange
	if in.Body != nil {
		rows = *in.Body
	}
	if err := checkPriorities(rows); err != nil {
		return nil, err
	}
	changes := make([]merged.Change, len(rows))
	for i, p := range rows {
		changes[i] = merged.Change{DataType: string(p.DataType), Provider: p.Provider, Priority: p.Priority}
	}
	var all []merged.Priority
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		before, err := merged.Priorities(ctx, tx, c.Team.UUID())
		if err != nil {
			return err
		}
		if err := merged.SetPriorities(ctx, tx, c.Team.UUID(), changes); err != nil {
			return err
		}
		if all, err = merged.Priorities(ctx, tx, c.Team.UUID()); err != nil {
			return err
		}
		return continuous.MarkReordered(ctx, tx, c.Team, changedTypes(before, all))
	})
	return api.Answer(prioritiesOf(all)), err
}

// changedTypes returns the types of data for which the priority of some provider differs.
func changedTypes(before, now []merged.Priority) []string {
	return slices.DeleteFunc(merged.DataTypes(), func(dataType string) bool {
		of := func(all []merged.Priority) map[string]int64 {
			found := map[string]int64{}
			for _, p := range all {
				if p.DataType == dataType && p.Priority != 0 { // one without a priority has 0
					found[p.Provider] = p.Priority
				}
			}
			return found
		}
		return maps.Equal(of(before), of(now))
	})
}

// checkPriorities refuses providers outside the catalogue, and two rows of one provider
// and type.
func checkPriorities(rows []priorityChange) error {
	type place struct {
		dataType priorityType
		provider string
	}
	seen := map[place]bool{}
	var faults []*fault.Error
	for i, p := range rows {
		var problem *fault.Error
		if _, known := providers.Find(p.Provider); !known {
			problem = fault.NotInEnum(providers.Slugs())
		} else if seen[place{p.DataType, p.Provider}] {
			problem = fault.New(fault.Invalid, "Value error, this provider is listed twice for one data_type")
		}
		if problem != nil {
			faults = append(faults, problem.At("body", strconv.Itoa(i), "provider").WithInput(p.Provider))
		}
		seen[place{p.DataType, p.Provider}] = true
	}
	return fault.Join(faults...)
}

func prioritiesOf(all []merged.Priority) []priorityBody {
	rows := make([]priorityBody, len(all))
	for i, p := range all {
		rows[i] = priorityBody{priorityType(p.DataType), p.Provider, p.Priority}
	}
	return rows
}
