package platform

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/platform/jobs"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
)

func (h *Handlers) jobRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/jobs", h.listJobs, "List a team's background jobs, newest first"),
		api.Get("/v2/jobs/{job_id}", h.getJob, "Get a background job"),
		api.Post("/v2/jobs/{job_id}/cancel", h.cancelJob, "Cancel a job; its completed work remains").Refuses("conflict"),
	}
}

// jobBody is a job in JSON.
type jobBody struct {
	ID          jobs.ID              `json:"id" format:"uuid"`
	Kind        string               `json:"kind" doc:"Kind of the job, such as users.erase or webhooks.replay."`
	Status      string               `json:"status" doc:"queued, running, succeeded, failed or canceled."`
	Key         *string              `json:"key" doc:"The subject of the job, if only one job of its kind may exist per subject."`
	Progress    jobProgress          `json:"progress"`
	Attempts    int                  `json:"attempts"`
	MaxAttempts int                  `json:"max_attempts"`
	RunAt       api.Time             `json:"run_at" doc:"Time at which the job is due."`
	Cancelable  bool                 `json:"cancelable" doc:"Whether it can be canceled while it is queued or running. Jobs that complete an earlier decision cannot, such as the erasure of a deleted user."`
	Error       *string              `json:"error" doc:"Error of the last attempt."`
	CreatedAt   api.Time             `json:"created_at"`
	StartedAt   api.OrNull[api.Time] `json:"started_at" doc:"Start of the last attempt."`
	FinishedAt  api.OrNull[api.Time] `json:"finished_at"`
}

type jobProgress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total" doc:"Total amount of work. It is 0 while it is unknown."`
	Note  string `json:"note"`
}

func jobOf(j jobs.Job) jobBody {
	return jobBody{
		ID: j.ID, Kind: j.Kind, Status: string(j.Status), Key: api.TextOrNull(j.Key), Progress: jobProgress(j.Progress),
		Attempts: j.Attempts, MaxAttempts: j.MaxAttempts, RunAt: api.Time(j.RunAt), Cancelable: j.Cancelable, Error: api.TextOrNull(j.Error),
		CreatedAt: api.Time(j.CreatedAt), StartedAt: api.Nullable(api.TimeOrNull(j.StartedAt)), FinishedAt: api.Nullable(api.TimeOrNull(j.FinishedAt)),
	}
}

// jobStatusWord is the state of a job.
type jobStatusWord string

func (jobStatusWord) Schema(huma.Registry) *huma.Schema { return api.Enum(jobs.Statuses) }

type jobsIn struct {
	Kind   []string        `query:"kind,explode" maxItems:"50"`
	Status []jobStatusWord `query:"status,explode" maxItems:"50"`
	Limit  int             `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor string          `query:"next_cursor" doc:"next_cursor of the previous page."`
}

type jobsBody struct {
	Jobs       []jobBody `json:"jobs"`
	NextCursor *string   `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

func (h *Handlers) listJobs(ctx context.Context, c api.Caller, in *jobsIn) (*api.Out[jobsBody], error) {
	filter := jobs.Filter{Kinds: in.Kind, Statuses: api.Words[jobs.Status](in.Status), Limit: in.Limit + 1}
	if in.Cursor != "" {
		if err := paging.Decode(in.Cursor, &filter.Before); err != nil {
			return nil, err
		}
	}
	body := jobsBody{Jobs: []jobBody{}}
	var all []jobs.Job
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = jobs.List(ctx, tx, c.Team.UUID(), filter)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, j := range all {
		if i == in.Limit {
			next := paging.Encode(all[i-1].ID)
			body.NextCursor = &next
			break
		}
		body.Jobs = append(body.Jobs, jobOf(j))
	}
	return api.Answer(body), nil
}

// JobPath is the part of an input with the job's id.
type JobPath struct {
	JobID jobs.ID `path:"job_id" format:"uuid"`
}

func (h *Handlers) getJob(ctx context.Context, c api.Caller, in *JobPath) (*api.Out[jobBody], error) {
	var job jobs.Job
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		job, err = jobs.Get(ctx, tx, c.Team.UUID(), in.JobID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(jobOf(job)), nil
}

func (h *Handlers) cancelJob(ctx context.Context, c api.Caller, in *JobPath) (*api.Out[jobBody], error) {
	var job jobs.Job
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		job, err = jobs.Stop(ctx, tx, c.Team.UUID(), in.JobID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(jobOf(job)), nil
}
