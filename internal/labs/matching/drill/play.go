package drill

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

type args struct {
	Team teams.ID `json:"team"`
	Run  ID       `json:"run"`
}

const attempts = 5

var (
	kind = jobs.Named[args]("matching.drill").With(jobs.Limits{Concurrency: 2, Timeout: 5 * time.Minute, Attempts: attempts})
	// Job is the kind of job that a runner needs.
	Job = kind.Do(play)
)

// rehearsal is a run on its way.
type rehearsal struct {
	Run
	db   *store.DB
	kase Case
	// test is what is ordered; wrong what the other lab reports.
	test, wrong *panel
}

// panel is a lab test with its markers.
type panel struct {
	lab     catalogue.Lab
	test    catalogue.Test
	markers []*catalogue.Marker
}

func (p *rehearsal) steps() []step {
	return []step{
		{Validating, p.validate},
		{Selecting, p.choose},
		{Creating, p.create},
		{Transitioning, p.transition},
		{Writing, p.write},
		{Matching, func(ctx context.Context) error { return matching.Match(ctx, p.db, p.Team, *p.Result, true) }},
		{Verifying, p.verify},
	}
}

type step struct {
	stage Stage
	do    func(ctx context.Context) error
}

// play goes through the stages. An attempt that follows one that was cut off
// goes through them again and finds made what was made.
func play(ctx context.Context, run *jobs.Run, a args) error {
	p := rehearsal{db: run.DB()}
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
	p.kase, _ = caseOf(p.Case)
	err = p.walk(ctx)
	var failure *Failure
	switch {
	case err == nil:
		return p.end(ctx, Succeeded, nil)
	case errors.As(err, &failure):
		return p.end(ctx, Failed, failure)
	case run.Attempt >= attempts:
		return errors.Join(err, p.end(ctx, Failed, &Failure{"internal_error", "The run failed for a reason of ours"}))
	}
	return err
}

func (p *rehearsal) walk(ctx context.Context) error {
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

func (p *rehearsal) end(ctx context.Context, status Status, failure *Failure) error {
	return p.db.Write(ctx, func(tx *store.Tx) error {
		now := tx.Now()
		p.Status, p.Stage, p.Failure, p.CompletedAt = status, Stage(status), failure, &now
		return p.save(ctx, tx)
	})
}

// validate looks at the orders that were provided.
func (p *rehearsal) validate(ctx context.Context) error {
	if p.Source != Provided {
		return nil
	}
	return p.db.Write(ctx, func(tx *store.Tx) error {
		p.Taking = map[string]Artifact{}
		var first *orders.Order
		for _, role := range p.kase.Roles {
			o, err := orders.Get(ctx, tx, p.Team, p.Orders[role])
			if fault.Is(err, fault.NotFound) {
				return failed("order_not_found", "The order of role "+role+" does not exist")
			}
			if err != nil {
				return err
			}
			if err := p.suits(&o, first, role); err != nil {
				return err
			}
			if first == nil {
				first = &o
			}
			p.Taking[role] = Artifact{o.ID, o.User, o.Transaction}
		}
		return p.save(ctx, tx)
	})
}

func (p *rehearsal) suits(o, first *orders.Order, role string) error {
	switch {
	case o.Status != p.kase.Required[role]:
		return failed("order_status", "The order of role "+role+" must be "+string(p.kase.Required[role]))
	case o.Body.Patient == nil:
		return failed("order_not_registered", "The order of role "+role+" has no patient")
	case p.kase.providedOnly && o.Method != catalogue.AtHome:
		return failed("order_method", "The order must be of an at_home_phlebotomy")
	case first == nil:
		return nil
	case o.Lab != first.Lab:
		return failed("order_labs", "The orders must be with one lab")
	case o.ID == first.ID:
		return failed("order_twice", "The roles must be different orders")
	}
	a, b := o.Body.Patient, first.Body.Patient
	if a.BirthDate != b.BirthDate || a.LastName != b.LastName || a.FirstName != b.FirstName {
		return failed("patients_differ", "The patients of the orders must have the same name and birth date")
	}
	return nil
}

// verify looks whether the verdict is the one that was to be rehearsed.
func (p *rehearsal) verify(ctx context.Context) error {
	var i matching.Item
	err := p.db.Read(ctx, func(tx *store.Tx) (err error) {
		i, err = matching.Get(ctx, tx, p.Team, *p.Result)
		return err
	})
	if err != nil {
		return err
	}
	if i.Decision != p.Case {
		return failed("unexpected_decision", "The result was judged "+string(i.Decision)+": other orders of the team fit it too")
	}
	return nil
}
