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

	"github.com/spf13/cobra"

	"hale/internal/client"
	"hale/internal/fault"
)

func (s *shell) jobsCommand() *cobra.Command {
	return s.calls(noun(&cobra.Command{
		Use: "jobs", Short: "see and cancel background work",
		Long: `See and cancel background work: imports, erasures of deleted users and the like. A
job survives a restart of the server, and one whose node dies is taken over.`,
		Example: examples("hale jobs list --status failed", "hale jobs wait 0198…"),
	}, s.jobsList(), s.jobsShow(), s.jobsCancel(), s.jobsWait()))
}

var jobColumns = []column{
	{"job", "id"},
	{"kind", "kind"},
	{"status", "status"},
	{"done", "progress.done"},
	{"of", "progress.total"},
	{"note", "progress.note"},
	{"attempts", "attempts"},
	{"created", "created_at"},
}

var (
	jobsView = view{list: "jobs", id: "id", columns: jobColumns, none: "no jobs"}
	jobView  = view{id: "id", columns: append(slices.Clone(jobColumns), column{"runs at", "run_at"},
		column{"started", "started_at"}, column{"finished", "finished_at"}, column{"cancelable", "cancelable"}, column{"error", "error"})}
)

// jobState is what the commands read of a job.
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
		Args:    takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			setIf(query, "kind", kind)
			setIf(query, "status", status)
			return s.showGet(c.Context(), jobsView, "/v2/jobs", query)
		},
	}
	c.Flags().StringVar(&kind, "kind", "", "only jobs of this kind")
	c.Flags().StringVar(&status, "status", "", "only queued, running, succeeded, failed or canceled ones")
	c.Flags().IntVar(&limit, "limit", 50, "how many")
	return c
}

func (s *shell) jobsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show JOB", Short: "show one job",
		Example: examples("hale jobs show 0198…"),
		Args:    takes("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.showGet(c.Context(), jobView, client.Path("v2", "jobs", args[0]), nil)
		},
	}
}

func (s *shell) jobsCancel() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "cancel JOB", Short: "stop a job; what it did stays",
		Long: `Stop a job; what it did stays. An import, a replay and a renormalising can be
canceled. What finishes something that was decided before cannot, such as the
erasure of a deleted user or the placing of an order.`,
		Example: examples("hale jobs cancel 0198…", "hale jobs cancel 0198… --dry-run"),
		Args:    takes("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			if dryRun {
				return s.jobsCancelDry(c.Context(), client.Path("v2", "jobs", args[0]))
			}
			body, err := s.call(c.Context(), http.MethodPost, client.Path("v2", "jobs", args[0], "cancel"), nil, nil)
			if err != nil {
				return err
			}
			return s.show(jobView, body)
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show the job and leave it")
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
	if job.Cancelable && !over(job.Status) {
		s.sayDone("nothing was changed; this job would be canceled")
	} else {
		s.sayDone("nothing was changed; this job would not be canceled")
	}
	return s.show(jobView, body)
}

func (s *shell) jobsWait() *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use: "wait JOB", Short: "wait for a job; the exit code tells how it ended",
		Example: examples("hale jobs wait 0198… && echo done", "hale jobs wait 0198… --timeout 10m"),
		Args:    takes("JOB"),
		RunE: func(c *cobra.Command, args []string) error {
			var job jobState
			ctx := c.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			body, err := s.await(ctx, client.Path("v2", "jobs", args[0]), waitedFor{label: "job", read: func(body []byte) (step, error) {
				job = jobState{}
				err := json.Unmarshal(body, &job)
				p := job.Progress
				return step{p.Done, p.Total, p.Note, over(job.Status), job.Status == succeeded}, err
			}})
			if errors.Is(err, context.DeadlineExceeded) {
				return fault.Newf(fault.Unavailable, "the job is not over after %s", timeout)
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
	c.Flags().DurationVar(&timeout, "timeout", 0, "give up waiting after this long; 0 never does")
	return c
}
