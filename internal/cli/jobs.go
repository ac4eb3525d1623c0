package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

func (s *shell) jobsCommand() *cobra.Command {
	return s.calls(noun(&cobra.Command{
		Use: "jobs", Short: "list and cancel background jobs",
		Long: `List and cancel the background jobs of a team, such as imports and erasures of
deleted users. A job survives a restart of the server. If a node fails, another
one takes over its jobs. Finished jobs are kept for seven days. Jobs of the server
itself belong to no team; /metrics and the log show them.`,
		Example:     examples("hale jobs list --status failed", "hale jobs wait 0198…"),
		Annotations: map[string]string{absentHint: listsJobs + "; finished jobs are kept for seven days"},
	}, s.jobsList(), s.jobsShow(), s.jobsCancel(), s.jobsWait(), s.jobsSystem()))
}

const listsJobs = "hale jobs list shows all jobs"

// jobPath checks the id of a job, and is where the API has it.
func jobPath(text string) (string, error) {
	id, err := idArg[jobs.Job]("JOB", "a job", text, listsJobs)
	return client.Path("v2", "jobs", id.String()), err
}

var jobColumns = []column{
	{"job", "id"},
	{"kind", "kind"},
	{"status", "status"},
	{"done", "progress.done"},
	{"total", "progress.total"},
	{"note", "progress.note"},
	{"attempts", "attempts"},
	{"created", "created_at"},
}

var (
	jobsView = view{list: "jobs", id: "id", columns: jobColumns, none: "no jobs"}
	jobView  = view{id: "id", columns: append(slices.Clone(jobColumns), column{"runs at", "run_at"},
		column{"started", "started_at"}, column{"finished", "finished_at"}, column{"cancelable", "cancelable"}, column{"error", "error"})}
)

// jobState holds the fields of a job that the commands read.
type jobState struct {
	Status     string `json:"status"`
	Error      string `json:"error"`
	Cancelable bool   `json:"cancelable"`
	Progress   struct {
		Done  int64  `json:"done"`
		Total int64  `json:"total"`
		Note  string `json:"note"`
	} `json:"progress"`
}

func (s *shell) jobsList() *cobra.Command {
	var kind, status string
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "list jobs, newest first",
		Example: examples("hale jobs list", "hale jobs list --status running", "hale jobs list --kind users.erase -o jsonl"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			setIf(query, "kind", kind)
			setIf(query, "status", status)
			return s.showGet(c.Context(), jobsView, "/v2/jobs", query)
		},
	}
	c.Flags().StringVar(&kind, "kind", "", "only jobs of this kind")
	c.Flags().StringVar(&status, "status", "", "only jobs with this status: queued, running, succeeded, failed or canceled")
	c.Flags().IntVar(&limit, "limit", 50, "number of items, at most 500")
	return c
}

// systemJob is a job of the server itself.
type systemJob struct {
	ID         jobs.ID     `json:"id"`
	Kind       string      `json:"kind"`
	Status     jobs.Status `json:"status"`
	Key        string      `json:"key,omitempty"`
	Attempts   int         `json:"attempts"`
	RunAt      time.Time   `json:"run_at"`
	StartedAt  *time.Time  `json:"started_at"`
	FinishedAt *time.Time  `json:"finished_at"`
	Error      string      `json:"error,omitempty"`
}

var systemJobsView = view{id: "id", none: "no jobs", columns: []column{
	{"kind", "kind"}, {"status", "status"}, {"attempts", "attempts"}, {"runs at", "run_at"}, {"started", "started_at"}, {"error", "error"},
}}

func (s *shell) jobsSystem() *cobra.Command {
	var filter jobs.Filter
	var kind, status string
	c := &cobra.Command{
		Use: "system", Short: "list the jobs of the server itself, newest first",
		Long: `List the jobs of the server itself, newest first, such as those that delete old
data. They belong to no team. The command reads the database and needs no API key.
A job that runs regularly is queued again after each run, also after a failed one.
Its error is then that of its last run.`,
		Example: examples("hale jobs system", "hale jobs system --kind events.forget -o json"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if known := []jobs.Status{"", jobs.Queued, jobs.Running, jobs.Succeeded, jobs.Failed, jobs.Canceled}; !slices.Contains(known, jobs.Status(status)) {
				return badUsagef("--status must be one of queued, running, succeeded, failed, canceled")
			}
			if status != "" {
				filter.Statuses = []jobs.Status{jobs.Status(status)}
			}
			if kind != "" {
				filter.Kinds = []string{kind}
			}
			if filter.Limit < 1 {
				return badUsagef("--limit must be 1 or greater")
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				lines := []systemJob{}
				err := db.Read(ctx, func(tx *store.Tx) error {
					all, err := jobs.List(ctx, tx, uuid.Nil, filter)
					for _, j := range all {
						lines = append(lines, systemJob{j.ID, j.Kind, j.Status, j.Key, j.Attempts, j.RunAt, j.StartedAt, j.FinishedAt, j.Error})
					}
					return err
				})
				if err != nil {
					return err
				}
				return s.showValue(systemJobsView, lines)
			})
		},
	}
	c.Flags().StringVar(&kind, "kind", "", "only jobs of this kind")
	c.Flags().StringVar(&status, "status", "", "only jobs with this status: queued, running, succeeded, failed or canceled")
	c.Flags().IntVar(&filter.Limit, "limit", 100, "number of jobs")
	addSettings(c.Flags(), storageSettings...)
	return c
}

func (s *shell) jobsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show JOB", Short: "show one job",
		Example: examples("hale jobs show 0198…"),
		Args:    wantArgs("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := jobPath(args[0])
			if err != nil {
				return err
			}
			return s.showGet(c.Context(), jobView, path, nil)
		},
	}
}

func (s *shell) jobsCancel() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "cancel JOB", Short: "cancel a job; its results so far stay",
		Long: `Cancel a job; its results so far stay. Imports, replays and reprocessing can be
canceled. Jobs that complete an earlier decision cannot, such as the erasure of a
deleted user or the placing of an order.`,
		Example: examples("hale jobs cancel 0198…", "hale jobs cancel 0198… --dry-run"),
		Args:    wantArgs("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := jobPath(args[0])
			if err != nil {
				return err
			}
			if dryRun {
				return s.jobsCancelDry(c.Context(), path)
			}
			body, err := s.call(c.Context(), http.MethodPost, path+"/cancel", nil, nil)
			if err != nil {
				return err
			}
			return s.show(jobView, body)
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show the job without canceling it")
	return c
}

func (s *shell) jobsCancelDry(ctx context.Context, path string) error {
	body, err := s.call(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	var job jobState
	if err := json.Unmarshal(body, &job); err != nil {
		return err
	}
	if job.Cancelable && !hasEnded(job.Status) {
		s.sayDone("nothing was changed; this job would be canceled")
	} else {
		s.sayDone("nothing was changed; this job would not be canceled")
	}
	return s.show(jobView, body)
}

func (s *shell) jobsWait() *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use: "wait JOB", Short: "wait for a job; the exit code is its outcome",
		Example: examples("hale jobs wait 0198… && echo done", "hale jobs wait 0198… --timeout 10m"),
		Args:    wantArgs("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := jobPath(args[0])
			if err != nil {
				return err
			}
			if timeout < 0 {
				return badUsagef("--timeout must be positive, or 0 for no limit")
			}
			var job jobState
			ctx := c.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			body, err := s.await(ctx, path, waitedFor{label: "job", read: func(body []byte) (step, error) {
				job = jobState{}
				err := json.Unmarshal(body, &job)
				p := job.Progress
				return step{p.Done, p.Total, p.Note, hasEnded(job.Status), job.Status == jobSucceeded}, err
			}})
			if errors.Is(err, context.DeadlineExceeded) {
				return fault.Newf(fault.Unavailable, "the job has not finished after %s", timeout)
			}
			if err != nil {
				return err
			}
			if err := s.show(jobView, body); err != nil {
				return err
			}
			return outcome("job", job.Status, job.Error)
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", 0, "maximum time to wait; 0 means no limit")
	return c
}
