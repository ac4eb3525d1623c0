package rehearsal

import (
	"context"
	"errors"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/matching"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

type jobArgs struct {
	Team teams.ID `json:"team"`
	Run  ID       `json:"run"`
}

const attempts = 5

// Migration 132 renames stored jobs that have the former kind.
var jobKind = jobs.NewKind[jobArgs]("matching.rehearsal").With(jobs.Limits{Concurrency: 2, Timeout: 5 * time.Minute, Attempts: attempts})

// Job returns the kind of job that a runner needs.
func Job(q *matching.Queue) jobs.Handler {
	return jobKind.Do(func(ctx context.Context, run *jobs.Run, a jobArgs) error { return execute(ctx, q, run, a) })
}

// execution is a run in progress.
type execution struct {
	Run
	db       *store.DB
	queue    *matching.Queue
	testCase Case
	// panel is the ordered test; wrongPanel the one that the other lab
	// reports.
	panel, wrongPanel *panel
}

// panel is a lab test with its markers.
type panel struct {
	lab     catalogue.Lab
	test    catalogue.Test
	markers []*catalogue.Marker
}

func (p *execution) steps() []step {
	return []step{
		{Validating, p.validate},
		{Selecting, p.chooseTests},
		{Creating, p.createOrders},
		{Transitioning, p.transition},
		{Writing, p.writeResult},
		{Matching, func(ctx context.Context) error { return p.queue.Match(ctx, p.db, p.Team, *p.Result, true) }},
		{Verifying, p.verify},
	}
}

type step struct {
	stage Stage
	do    func(ctx context.Context) error
}

// execute runs the stages. An attempt that follows an interrupted one runs
// them again and finds the rows that exist already.
func execute(ctx context.Context, q *matching.Queue, run *jobs.Run, a jobArgs) error {
	p := execution{db: run.DB(), queue: q}
	err := p.db.Read(ctx, func(tx *store.Tx) (err error) {
		p.Run, err = Get(ctx, tx, a.Team, a.Run)
		return err
	})
	if fault.Is(err, fault.NotFound) || err == nil && p.CompletedAt != nil {
		return nil
	}
	if err != nil {
		return err
	}
	p.testCase, _ = caseOf(p.Case)
	err = p.runStages(ctx)
	var failure *Failure
	switch {
	case err == nil:
		return p.end(ctx, Succeeded, nil)
	case errors.As(err, &failure):
		return p.end(ctx, Failed, failure)
	case run.Attempt >= attempts:
		return errors.Join(err, p.end(ctx, Failed, &Failure{"internal_error", "The run failed because of an internal error"}))
	}
	return err
}

func (p *execution) runStages(ctx context.Context) error {
	for _, s := range p.steps() {
		err := p.db.Write(ctx, func(tx *store.Tx) error {
			now := tx.Now()
			if p.StartedAt == nil {
				p.StartedAt = &now
			}
			p.Status, p.Stage = Running, s.stage
			return p.save(ctx, tx)
		})
		if err != nil {
			return err
		}
		if err := s.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *execution) end(ctx context.Context, status Status, failure *Failure) error {
	return p.db.Write(ctx, func(tx *store.Tx) error {
		now := tx.Now()
		p.Status, p.Stage, p.Failure, p.CompletedAt = status, Stage(status), failure, &now
		return p.save(ctx, tx)
	})
}

// validate checks the provided orders.
func (p *execution) validate(ctx context.Context) error {
	if p.Source != Provided {
		return nil
	}
	return p.db.Write(ctx, func(tx *store.Tx) error {
		p.Artifacts = map[string]Artifact{}
		var first *orders.Order
		for _, role := range p.testCase.Roles {
			o, err := orders.Get(ctx, tx, p.Team, p.Orders[role])
			if fault.Is(err, fault.NotFound) {
				return newFailure("order_not_found", "The order of role "+role+" does not exist")
			}
			if err != nil {
				return err
			}
			if err := p.checkOrder(&o, first, role); err != nil {
				return err
			}
			if first == nil {
				first = &o
			}
			p.Artifacts[role] = Artifact{o.ID, o.User, o.Transaction}
		}
		return p.save(ctx, tx)
	})
}

func (p *execution) checkOrder(o, first *orders.Order, role string) error {
	switch {
	case o.Status != p.testCase.Required[role]:
		return newFailure("order_status", "The order of role "+role+" must be "+string(p.testCase.Required[role]))
	case o.Body.Patient == nil:
		return newFailure("order_not_registered", "The order of role "+role+" has no patient")
	case p.testCase.providedOnly && o.Method != catalogue.AtHome:
		return newFailure("order_method", "The order must be of an at_home_phlebotomy")
	case first == nil:
		return nil
	case o.Lab != first.Lab:
		return newFailure("order_labs", "The orders must be with one lab")
	case o.ID == first.ID:
		return newFailure("order_twice", "The roles must be different orders")
	}
	a, b := o.Body.Patient, first.Body.Patient
	if a.BirthDate != b.BirthDate || a.LastName != b.LastName || a.FirstName != b.FirstName {
		return newFailure("patients_differ", "The patients of the orders must have the same name and birth date")
	}
	return nil
}

// verify checks that the decision is the expected one.
func (p *execution) verify(ctx context.Context) error {
	var i matching.Item
	err := p.db.Read(ctx, func(tx *store.Tx) (err error) {
		i, err = matching.Get(ctx, tx, p.Team, *p.Result)
		return err
	})
	if err != nil {
		return err
	}
	if i.Decision != p.Case {
		return newFailure("unexpected_decision", "The result was judged "+string(i.Decision)+": other orders of the team fit it too")
	}
	return nil
}
