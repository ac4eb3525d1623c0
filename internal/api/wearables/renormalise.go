package wearables

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/wearables/ledger/replay"
)

// Reprocessing is an addition to the reference.
func (h *Handlers) renormaliseRoutes() []api.Route {
	return []api.Route{
		api.Post("/v2/team/renormalise", h.startRenormalise, "Reprocess stored payloads with the current mapping").Status(http.StatusAccepted).Creates().Announces(pushEvents...),
		api.Get("/v2/team/renormalise", h.listRenormalise, "List the newest reprocessing runs"),
		api.Get("/v2/team/renormalise/{run_id}", h.getRenormalise, "Get the progress and the changes of a reprocessing run"),
	}
}

type startRenormaliseIn struct {
	Body struct {
		UserID *users.ID `json:"user_id,omitempty" format:"uuid" doc:"Process only this user."`
		DryRun bool      `json:"dry_run,omitempty" doc:"Report the changes and store nothing."`
		Every  bool      `json:"every,omitempty" doc:"Include users whose payloads were all processed with the current mapping."`
	}
}

// renormaliseBody is a run on the wire.
type renormaliseBody struct {
	ID         replay.ID      `json:"id" format:"uuid" doc:"Id of the run and of its job."`
	Status     string         `json:"status" doc:"queued, running, succeeded, failed or canceled. The list may grow."`
	UserID     *users.ID      `json:"user_id" nullable:"true" format:"uuid" doc:"User whose payloads are processed. It is null for all users."`
	DryRun     bool           `json:"dry_run"`
	Every      bool           `json:"every"`
	Done       int64          `json:"users_done"`
	Total      int64          `json:"users_total"`
	Report     replay.Changes `json:"report" doc:"Changes so far. A dry run reports them and stores nothing."`
	Error      *string        `json:"error"`
	CreatedAt  api.Time       `json:"created_at"`
	FinishedAt *api.Time      `json:"finished_at" nullable:"true"`
}

type renormaliseList struct {
	Runs []renormaliseBody `json:"runs"`
}

func renormaliseOf(r replay.Run) renormaliseBody {
	return renormaliseBody{
		ID: r.ID, Status: string(r.Status), UserID: r.User, DryRun: r.DryRun, Every: r.Every, Done: r.Done, Total: r.Total,
		Report: r.Report, Error: api.TextOrNull(r.Error), CreatedAt: api.Time(r.CreatedAt), FinishedAt: api.TimeOrNull(r.FinishedAt),
	}
}

func (h *Handlers) startRenormalise(ctx context.Context, c api.Caller, in *startRenormaliseIn) (*api.Out[renormaliseBody], error) {
	return api.Commit(ctx, h.API, func(tx *store.Tx) (body renormaliseBody, err error) {
		made, err := h.Replay.Create(ctx, tx, c.Team, replay.Order{User: in.Body.UserID, DryRun: in.Body.DryRun, Every: in.Body.Every})
		if err != nil {
			return body, err
		}
		return renormaliseOf(made), nil
	})
}

func (h *Handlers) listRenormalise(ctx context.Context, c api.Caller, _ *struct{}) (*api.Out[renormaliseList], error) {
	var all []replay.Run
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = replay.List(ctx, tx, c.Team)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := renormaliseList{make([]renormaliseBody, len(all))}
	for i, r := range all {
		body.Runs[i] = renormaliseOf(r)
	}
	return api.Answer(body), nil
}

type renormalisePath struct {
	RunID replay.ID `path:"run_id" format:"uuid"`
}

func (h *Handlers) getRenormalise(ctx context.Context, c api.Caller, in *renormalisePath) (*api.Out[renormaliseBody], error) {
	var r replay.Run
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		r, err = replay.Get(ctx, tx, c.Team, in.RunID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(renormaliseOf(r)), nil
}

// Subject returns the user whose key seals a kept answer, if the run is for one.
func (b renormaliseBody) Subject() uuid.UUID {
	if b.UserID == nil {
		return uuid.Nil
	}
	return b.UserID.UUID()
}
