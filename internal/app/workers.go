package app

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hale/internal/api"
	"hale/internal/api/routes"
	"hale/internal/labs/documents"
	"hale/internal/labs/orders"
	"hale/internal/people/tokens"
	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/platform/webhooks"
	"hale/internal/wearables/aggregate/continuous"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/ledger"
)

// workers run beside the requests. They start and stop together. A stop waits for them
// within its time limit.
type workers struct {
	node *jobs.Node
	all  []*worker
}

// worker is one loop and the switch that ends it.
type worker struct {
	name string
	run  func(ctx context.Context) error
	stop context.CancelFunc
	done chan struct{}
}

func (w *workers) add(name string, run func(ctx context.Context) error) {
	w.all = append(w.all, &worker{name: name, run: run, done: make(chan struct{})})
}

// start runs every loop. A loop that ends by itself has failed, and fails the node.
func (w *workers) start(ctx context.Context, failed chan<- error) {
	for _, one := range w.all {
		running, stop := context.WithCancel(ctx)
		one.stop = stop
		go func() {
			defer close(one.done)
			if err := one.run(running); err != nil && running.Err() == nil {
				failed <- errors.Join(errors.New("app: "+one.name+" ended"), err)
			}
		}()
	}
}

// halt stops every loop, and waits for them until ctx ends.
func (w *workers) halt(ctx context.Context) {
	var wait sync.WaitGroup
	for _, one := range w.all {
		if one.stop == nil {
			continue
		}
		one.stop()
		wait.Go(func() {
			select {
			case <-one.done:
			case <-ctx.Done():
			}
		})
	}
	wait.Wait()
}

// leaveTimeout is the time to release this node's claims at a stop. It applies even after
// the time limit of the stop, if the database does not answer.
const leaveTimeout = 5 * time.Second

// leave releases this node's claims, so that other nodes need not wait for the end of its
// lease.
func (w *workers) leave(ctx context.Context) error {
	if w.node == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	return w.node.Leave(ctx)
}

// services creates the services that the handlers call, and their workers.
func (a *App) services(ctx context.Context) (routes.Services, error) {
	node, err := jobs.Join(ctx, a.DB, 0, a.Log)
	if err != nil {
		return routes.Services{}, err
	}
	a.workers.node = node
	posting := a.posting(node)
	intake := a.intake()
	if a.sending, err = a.messages(); err != nil {
		return routes.Services{}, err
	}
	ordering, err := a.ordering()
	if err != nil {
		return routes.Services{}, err
	}
	reading, err := a.reports()
	if err != nil {
		return routes.Services{}, err
	}
	runner := jobs.NewRunner(a.DB, jobs.Config{
		Node: node, Log: a.Log, Observe: a.Metrics.Job, CheckClock: a.checkClock, Held: a.outgoing.held.Load,
		Kinds: slices.Concat(a.kinds(), intake.jobs(), a.sending.Jobs(), a.criticalAlarms().Jobs(), ordering.jobs(), []jobs.Handler{reading.Job()}),
	})
	a.Metrics.ExpectJobs(runner.KindNames())
	a.workers.add("jobs", runner.Run)
	a.workers.add("audit log", a.audit.Run)
	a.Metrics.Gauge("clock_skew_seconds", "How far PostgreSQL's clock is ahead of this node's; 0 on SQLite.", func() float64 { return node.Skew().Seconds() })
	a.Metrics.Gauge("deletions_paused", "1 while no data is deleted by age, because the clock cannot be trusted.", func() float64 {
		if a.clockDoubted.Load() {
			return 1
		}
		return 0
	})
	a.watchJobs(runner)
	a.watchOutgoing()
	a.watchDamage()
	a.watchAttention()
	return routes.Services{
		Ingester: intake.ingester, Imports: intake.uploads, Ledger: intake.ledger, Replay: intake.replay, Deletions: intake.deleting, Demo: intake.demos,
		Places: ordering.visits.Places, Appointments: ordering.visits, Sandbox: ordering.sandbox, Fulfilment: ordering.fulfilment, Orders: ordering.lists,
		Webhooks: posting, Links: a.links, ResultDocuments: documents.Reports{}, Reports: reading,
	}, nil
}

// posting numbers events and posts them to the teams' endpoints.
func (a *App) posting(node *jobs.Node) webhooks.Config {
	sequencer := &events.Sequencer{DB: a.DB, Log: a.Log}
	a.workers.add("event numbering", sequencer.Run)
	posting := webhooks.Config{
		Node: node, Log: a.Log,
		Guard:    webhooks.Guard{AllowPrivate: a.Config.WebhookAllowPrivate},
		Stranded: a.Metrics.Stranded, CheckSending: a.checkSending,
		Observe: func(at webhooks.AttemptResult) {
			a.Metrics.Attempt(at.Outcome, at.Took)
			if at.Outcome == "sent" {
				a.Metrics.Delivered(at.Delay)
			}
		},
	}
	deliverer := webhooks.NewDeliverer(a.DB, posting)
	a.workers.add("webhook delivery", a.whenFree(deliverer.Run))
	a.Metrics.Gauge("webhook_oldest_due_seconds", "How long the oldest due delivery has been waiting.", func() float64 { return deliverer.Lag().Seconds() })
	a.watchBacklog()
	a.Metrics.Gauge("webhook_claimed", "Deliveries that this node has claimed and not yet recorded.", func() float64 { return float64(deliverer.Claimed()) })
	return posting
}

// watchJobs registers the metrics of waiting jobs.
func (a *App) watchJobs(runner *jobs.Runner) {
	byKind := func(figure func(jobs.WaitingJobs) float64) func() map[string]float64 {
		return func() map[string]float64 {
			figures := map[string]float64{}
			for kind, waiting := range runner.Waiting() {
				figures[kind] = figure(waiting)
			}
			return figures
		}
	}
	a.Metrics.GaugeBy("kind", "jobs_due", "Background jobs that are due and have not begun.",
		byKind(func(w jobs.WaitingJobs) float64 { return float64(w.Jobs) }))
	a.Metrics.GaugeBy("kind", "job_oldest_due_seconds", "How long the oldest due job has been waiting.",
		byKind(func(w jobs.WaitingJobs) float64 { return w.Oldest.Seconds() }))
}

// kinds returns the handlers of all background jobs that need no service.
func (a *App) kinds() []jobs.Handler {
	return []jobs.Handler{
		users.EraseJob,
		users.ScrubJob,
		connections.PauseJob,
		tokens.ForgetJob,
		webhooks.ReplayJob,
		continuous.Job,
		continuous.BackfillJob,
		continuous.FillJob,
		continuous.RescheduleJob,
		jobs.Define("idempotency.forget", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
			return run.DB().Write(ctx, func(tx *store.Tx) error {
				_, err := api.ForgetIdempotency(ctx, tx)
				return err
			})
		}).Every(time.Hour).Deletes(),
		jobs.Define("orders.forget_past", func(ctx context.Context, run *jobs.Run, _ struct{}) error {
			return run.DB().Write(ctx, func(tx *store.Tx) error { return orders.ForgetPast(ctx, tx) })
		}).Every(time.Hour).Deletes(),
		jobs.Define("events.forget", a.forgetEvents).Every(time.Hour).Deletes(),
		jobs.Define("ledger.forget", a.forgetPayloads).Every(time.Hour).Deletes(),
		jobs.Define("audit.forget", a.forgetAccesses).Every(time.Hour).Deletes(),
	}
}

// forgetAccesses deletes the rows of the audit log whose retention has ended.
func (a *App) forgetAccesses(ctx context.Context, run *jobs.Run, _ struct{}) error {
	n, err := a.audit.Forget(ctx, run.DB().Now().Add(-a.Config.AuditRetention))
	if n > 0 {
		a.Log.Info("removed rows of the audit log after their retention", "rows", n)
	}
	return err
}

// forgetEvents deletes each team's events whose retention has ended. mostForgotten limits
// one run.
func (a *App) forgetEvents(ctx context.Context, run *jobs.Run, _ struct{}) error {
	var all []teams.Team
	err := run.DB().Read(ctx, func(tx *store.Tx) (err error) {
		all, err = teams.List(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	before := run.DB().Now().Add(-a.Config.EventRetention)
	for i, team := range all {
		oldest, err := oldestOf(ctx, run.DB(), team.ID.UUID(), events.OldestTime)
		if err != nil {
			return err
		}
		if _, err := events.Forget(ctx, run.DB(), team.ID.UUID(), earlierOf(before, oldest.Add(mostForgotten))); err != nil {
			return err
		}
		if err := run.Progress(ctx, int64(i+1), int64(len(all)), "teams"); err != nil {
			return err
		}
	}
	return nil
}

// forgetPayloads deletes the received bodies whose retention has ended.
func (a *App) forgetPayloads(ctx context.Context, run *jobs.Run, _ struct{}) error {
	if a.Config.LedgerRetention == 0 {
		return nil
	}
	var all []teams.Team
	err := run.DB().Read(ctx, func(tx *store.Tx) (err error) {
		all, err = teams.List(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	before := run.DB().Now().Add(-a.Config.LedgerRetention)
	for _, team := range all {
		oldest, err := oldestOf(ctx, run.DB(), team.ID, ledger.OldestReceipt)
		if err != nil {
			return err
		}
		if _, err := ledger.RemoveExpired(ctx, run.DB(), team.ID, earlierOf(before, oldest.Add(mostForgotten))); err != nil {
			return err
		}
	}
	return nil
}

// mostForgotten limits the data that one run deletes: a day of data, from the oldest
// row on. A run starts each hour. So an operator has time to notice a clock that is
// far ahead, or a retention that was shortened by mistake.
const mostForgotten = 24 * time.Hour

// oldestOf returns the time of a team's oldest row; zero if it has none.
func oldestOf[ID any](ctx context.Context, db *store.DB, team ID, read func(context.Context, *store.Tx, ID) (time.Time, error)) (at time.Time, err error) {
	err = db.Read(ctx, func(tx *store.Tx) error {
		at, err = read(ctx, tx, team)
		return err
	})
	return at, err
}

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// checkSkew compares the clock of this node with PostgreSQL's.
func (a *App) checkSkew(ctx context.Context) error {
	if a.AnyClock {
		return nil
	}
	return a.DB.CheckSkew(store.AsSystem(ctx))
}

// checkClock reports whether jobs may delete data by age, and records it for the
// metric.
func (a *App) checkClock(ctx context.Context) error {
	if a.AnyClock {
		return nil
	}
	err := a.DB.CheckClock(ctx)
	a.clockDoubted.Store(err != nil)
	return err
}
