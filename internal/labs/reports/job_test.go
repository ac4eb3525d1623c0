package reports_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hale/internal/labs/critical"
	"hale/internal/labs/identity"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/reports"
	"hale/internal/labs/reports/extract"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// fixture is a service whose reader is a function of the test.
type fixture struct {
	t       *testing.T
	db      *store.DB
	team    teams.Team
	user    users.User
	service *reports.Service
	reader  *fakeReader
	runner  *jobs.Runner
}

// fakeReader answers with the outcome for the first byte of a file.
type fakeReader struct {
	mu       sync.Mutex
	outcomes map[byte]func() (extract.Result, error)
	read     []byte // first bytes of the files, in the order of reading
	hold     chan struct{}
}

func (f *fakeReader) Read(ctx context.Context, files []reports.File) (extract.Result, error) {
	if f.hold != nil {
		select {
		case <-f.hold:
		case <-ctx.Done():
			return extract.Result{}, ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	first := files[0].Data[0]
	f.read = append(f.read, first)
	if fn := f.outcomes[first]; fn != nil {
		return fn()
	}
	return glucose(""), nil
}

func (f *fakeReader) Image(_ context.Context, _ []reports.File, page int) ([]byte, error) {
	return fmt.Appendf(nil, "page %d", page), nil
}

// glucose returns a report with one result. change may alter it.
func glucose(specimen string, change ...func(r *extract.Result)) extract.Result {
	value, low, high := 91.0, 70.0, 99.0
	r := extract.Result{
		Metadata: extract.Metadata{CollectedDate: "2026-03-04", CollectedText: "03/04/2026", Specimen: specimen},
		Pages:    []extract.PageInfo{{Width: 612, Height: 792, Source: extract.FromText}},
		Rows: []extract.Row{{
			Name: "Glucose", Value: "91", Type: extract.Numeric, Number: &value, Unit: "mg/dL", UCUM: "mg/dL",
			Range: extract.Range{Text: "70-99", Kind: extract.RangeInterval, Min: &low, Max: &high}, Interpretation: "normal",
			Status: extract.AutoMatch, Matches: []extract.Match{{Code: "2345-7", Name: "Glucose", Confidence: 1}}, Page: 1, Confidence: .7,
			NeedsReview: true, Reasons: []extract.Reason{extract.LowConfidence},
		}},
	}
	for _, fn := range change {
		fn(&r)
	}
	return r
}

func newFixture(t *testing.T, db *store.DB) *fixture {
	t.Helper()
	users.Register(db, reports.UserRecords()...)
	b := &fixture{t: t, db: db, team: orderstest.Team(t, db), reader: &fakeReader{outcomes: map[byte]func() (extract.Result, error){}}}
	b.user = userstest.New(t, db, b.team.ID, users.NewUser{})
	b.service = &reports.Service{DB: db, Reader: b.reader, Limits: reports.DefaultLimits(), Workers: 1}
	return b
}

// start runs the queue until the test ends.
func (b *fixture) start() {
	b.t.Helper()
	ctx, stop := context.WithCancel(store.AsSystem(context.Background()))
	node, err := jobs.Join(ctx, b.db, 0, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.runner = jobs.NewRunner(b.db, jobs.Config{Node: node, Kinds: []jobs.Handler{b.service.Job(), users.EraseJob}})
	done := make(chan error, 1)
	go func() { done <- b.runner.Run(ctx) }()
	b.t.Cleanup(func() {
		stop()
		<-done
		if err := node.Leave(context.WithoutCancel(ctx)); err != nil {
			b.t.Error(err)
		}
	})
}

// upload creates a job of a file with the given first byte.
func (b *fixture) upload(team teams.ID, user users.User, first byte, review bool) reports.Job {
	b.t.Helper()
	var j reports.Job
	userstest.Write(b.t, b.db, func(ctx context.Context, tx *store.Tx) (err error) {
		j, err = reports.Create(ctx, tx, user, reports.New{Files: []reports.File{{Type: reports.PDF, Data: []byte{first}}}, Review: review})
		return err
	})
	return j
}

// wait waits until the report is not waiting any more.
func (b *fixture) wait(j reports.Job) reports.Job {
	b.t.Helper()
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		now := b.get(j)
		if now.Status != reports.Started {
			return now
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("the report still waits: %+v", now)
		}
	}
}

func (b *fixture) get(j reports.Job) (now reports.Job) {
	b.t.Helper()
	userstest.Read(b.t, b.db, func(ctx context.Context, tx *store.Tx) (err error) {
		now, err = reports.Get(ctx, tx, j.Team, j.ID)
		return err
	})
	return now
}

func (b *fixture) revisions(j reports.Job) (all []reports.Revision) {
	b.t.Helper()
	now := b.get(j)
	userstest.Read(b.t, b.db, func(ctx context.Context, tx *store.Tx) (err error) {
		all, err = reports.Revisions(ctx, tx, &now)
		return err
	})
	return all
}

func (b *fixture) decide(j reports.Job, review reports.Review) (now reports.Job, err error) {
	b.t.Helper()
	ctx := store.AsSystem(b.t.Context())
	err = b.db.Write(ctx, func(tx *store.Tx) (err error) {
		now, _, err = reports.Decide(ctx, tx, j.Team, j.ID, review)
		return err
	})
	return now, err
}

func (b *fixture) history() (h reports.History) {
	b.t.Helper()
	userstest.Read(b.t, b.db, func(ctx context.Context, tx *store.Tx) (err error) {
		h, err = reports.HistoryOf(ctx, tx, b.team.ID, b.user.ID)
		return err
	})
	return h
}

// eventTypes returns the types of the team's events in order.
func (b *fixture) eventTypes() (all []string) {
	b.t.Helper()
	userstest.Read(b.t, b.db, func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT type FROM events WHERE team_id = $1 ORDER BY id`, b.team.ID)
		if err != nil {
			return err
		}
		defer rows.Close()
		all = nil
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			if strings.HasPrefix(name, "lab_report.") {
				all = append(all, name)
			}
		}
		return rows.Err()
	})
	return all
}

func TestReportIsRead(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		events.Register(db, events.NewCatalogue(append(users.EventTypes(), reports.EventTypes()...)...))
		b := newFixture(t, db)
		j := b.upload(b.team.ID, b.user, 'a', false)
		if j.Status != reports.Started {
			t.Errorf("a new job is %s", j.Status)
		}
		if again := b.upload(b.team.ID, b.user, 'a', false); again.ID != j.ID {
			t.Errorf("the same file is job %s, not %s", again.ID, j.ID)
		}
		b.start()
		now := b.wait(j)
		if now.Status != reports.Completed || now.Pages != 1 || now.Patient != reports.PatientUnknown || now.FinishedAt == nil {
			t.Errorf("the job is %+v", now)
		}
		if got := b.eventTypes(); !slices.Equal(got, []string{reports.CreatedEvent, reports.UpdatedEvent}) {
			t.Errorf("events %v", got)
		}
		h := b.history()
		docs := h.Documents()
		if len(docs) != 1 || docs[0].Origin.Kind != reports.FromReport || !docs[0].NeedsReview {
			t.Errorf("results of the user: %+v", docs)
		}
		other := userstest.New(t, db, b.team.ID, users.NewUser{})
		if j := b.upload(b.team.ID, other, 'a', false); j.ID == now.ID {
			t.Error("two users share a job")
		}
	})
}

// Results of a drug against two organisms of one culture name their organisms.
func TestDrugsOfTwoOrganisms(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.reader.outcomes['o'] = func() (extract.Result, error) {
			return glucose("", func(r *extract.Result) {
				r.Rows = nil
				for organism, flag := range map[string]string{"Escherichia coli": "S", "Klebsiella pneumoniae": "R"} {
					r.Rows = append(r.Rows, extract.Row{Name: "Ceftriaxone", Value: flag, Type: extract.Comment, Flag: flag, Panel: organism, Page: 1, Status: extract.NoMatch})
				}
			}), nil
		}
		j := b.upload(b.team.ID, b.user, 'o', false)
		b.start()
		b.wait(j)
		h := b.history()
		docs := h.Documents()
		if len(docs) != 2 {
			t.Fatalf("results of the user: %+v", docs)
		}
		for _, d := range docs {
			if want := map[string]string{"S": "Escherichia coli", "R": "Klebsiella pneumoniae"}[d.Result]; d.Panel == nil || *d.Panel != want {
				t.Errorf("the drug is %+v, want %s", d, want)
			}
		}
	})
}

// A file that ends the reader's process three times fails. After fewer exits it is read.
// A Failure that the reader reports fails a file at once.
func TestReaderThatDies(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		exits := 0
		b.reader.outcomes['k'] = func() (extract.Result, error) {
			exits++
			return extract.Result{}, fmt.Errorf("%w: killed", reports.ErrReaderGone)
		}
		twice := 0
		b.reader.outcomes['l'] = func() (extract.Result, error) {
			if twice++; twice < 3 {
				return extract.Result{}, reports.ErrReaderGone
			}
			return glucose(""), nil
		}
		b.reader.outcomes['n'] = func() (extract.Result, error) {
			return extract.Result{}, &extract.Failure{Reason: extract.NotEnglish, Detail: "The report is not in English."}
		}
		killer, lucky, foreign := b.upload(b.team.ID, b.user, 'k', false), b.upload(b.team.ID, b.user, 'l', false), b.upload(b.team.ID, b.user, 'n', false)
		b.start()
		if now := b.wait(killer); now.Status != reports.Failed || now.Failure != extract.ProcessingError || now.Message == "" || exits != 3 {
			t.Errorf("after %d exits the job is %s %s %q", exits, now.Status, now.Failure, now.Message)
		}
		if now := b.wait(lucky); now.Status != reports.Completed {
			t.Errorf("after two exits the job is %s", now.Status)
		}
		if now := b.wait(foreign); now.Status != reports.Failed || now.Failure != extract.NotEnglish {
			t.Errorf("the job is %s %s", now.Status, now.Failure)
		}
	})
}

// Teams take turns, however many reports each has.
func TestTeamsTakeTurns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.reader.hold = make(chan struct{})
		small := orderstest.Team(t, db)
		user := userstest.New(t, db, small.ID, users.NewUser{})
		var last reports.Job
		for i := range 12 {
			last = b.upload(b.team.ID, b.user, byte('A'+i), false)
		}
		var few []reports.Job
		for i := range 3 {
			few = append(few, b.upload(small.ID, user, byte('1'+i), false))
		}
		b.start()
		close(b.reader.hold)
		b.wait(last)
		for _, j := range few {
			b.wait(j)
		}
		b.reader.mu.Lock()
		defer b.reader.mu.Unlock()
		order := string(b.reader.read)
		if at := strings.LastIndexByte(order, '3'); at < 0 || at > 7 {
			t.Errorf("the small team's third report was read after %d others: %s", at, order)
		}
	})
}

func TestPatientMismatchWaits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		events.Register(db, events.NewCatalogue(append(users.EventTypes(), reports.EventTypes()...)...))
		b := newFixture(t, db)
		userstest.WithInfo(t, db, b.user, userstest.Info())
		named := func(first, last, born string) func() (extract.Result, error) {
			return func() (extract.Result, error) {
				return glucose("", func(r *extract.Result) {
					r.Metadata.FirstName, r.Metadata.LastName, r.Metadata.BirthDate = first, last, born
				}), nil
			}
		}
		b.reader.outcomes['s'] = named("ADA", "Byron", "1984-12-10")
		b.reader.outcomes['o'] = named("Ada", "Lovelace", "1984-12-10")
		b.reader.outcomes['d'] = named("", "", "1985-12-10")
		same, other, date := b.upload(b.team.ID, b.user, 's', false), b.upload(b.team.ID, b.user, 'o', false), b.upload(b.team.ID, b.user, 'd', false)
		b.start()
		if now := b.wait(same); now.Status != reports.Completed || now.Patient != reports.PatientMatches {
			t.Errorf("the user's own report is %s, patient %s", now.Status, now.Patient)
		}
		for _, j := range []reports.Job{other, date} {
			now := b.wait(j)
			if now.Status != reports.PendingReview || !slices.Contains(now.Reasons, reports.PatientMismatch) || len(now.Problems) == 0 {
				t.Errorf("another person's report is %s %v %v", now.Status, now.Reasons, now.Problems)
			}
		}
		h := b.history()
		if n := len(h.Reports); n != 1 {
			t.Errorf("%d reports are read with the user's results", n)
		}
		if now := b.get(other); now.Repeats != nil || len(b.revisions(other)[0].Repeated) != 0 {
			t.Errorf("another person's report repeats %+v of the user", now.Repeats)
		}
		if _, err := b.decide(other, reports.Review{Decision: reports.Accept, Reviewer: "Jo"}); !fault.Is(err, fault.Unprocessable) || !strings.Contains(err.Error(), "last_name_mismatch") {
			t.Errorf("another person's report is accepted without a confirmation: %v", err)
		}
		if _, err := b.decide(other, reports.Review{Decision: reports.Accept, Reviewer: "Jo", ConfirmIdentity: true}); err != nil {
			t.Fatal(err)
		}
		if all := b.revisions(other); !slices.Equal(all[len(all)-1].Confirmed, []identity.Problem{identity.LastNameMismatch}) {
			t.Errorf("the decision records the differences %v", all[len(all)-1].Confirmed)
		}
		if _, err := b.decide(date, reports.Review{Decision: reports.Reject, Reviewer: "Jo"}); err != nil {
			t.Fatal(err)
		}
		h = b.history()
		docs := h.Documents()
		if len(h.Reports) != 2 || len(docs) != 1 || len(docs[0].Repeated) != 1 {
			t.Errorf("after the decisions %d reports are read, with %d results, repeated in %v", len(h.Reports), len(docs), docs[0].Repeated)
		}
		if now := b.get(other); now.Repeats == nil || now.Repeats.Job != same.ID {
			t.Errorf("the second scan of the report repeats %+v", now.Repeats)
		}
		if now := b.get(date); now.Status != reports.Failed || now.Failure != "" || now.Message == "" {
			t.Errorf("the rejected report is %s %q %q", now.Status, now.Failure, now.Message)
		}
	})
}

// A report that names no person waits if the user has a name to compare with. A file
// with pages of two persons waits, although the first one is the user.
func TestUnclearPatientWaits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		events.Register(db, events.NewCatalogue(append(users.EventTypes(), reports.EventTypes()...)...))
		b := newFixture(t, db)
		userstest.WithInfo(t, db, b.user, userstest.Info())
		b.reader.outcomes['t'] = func() (extract.Result, error) {
			return glucose("", func(r *extract.Result) {
				r.Metadata.FirstName, r.Metadata.LastName, r.Metadata.BirthDate, r.Metadata.SeveralPatients = "Ada", "Byron", "1984-12-10", true
			}), nil
		}
		b.reader.outcomes['m'] = func() (extract.Result, error) {
			return glucose("", func(r *extract.Result) {
				r.Metadata.FirstName, r.Metadata.LastName, r.Metadata.BirthDate, r.Metadata.BirthOfOther = "Ada", "Byron", "", true
			}), nil
		}
		b.reader.outcomes['c'] = func() (extract.Result, error) {
			return glucose("", func(r *extract.Result) {
				r.Metadata.FirstName, r.Metadata.LastName, r.Metadata.BirthDate, r.Metadata.SeveralCollections = "Ada", "Byron", "1984-12-10", true
			}), nil
		}
		samples := b.upload(b.team.ID, b.user, 'c', false)
		unnamed, two, mother := b.upload(b.team.ID, b.user, 'n', false), b.upload(b.team.ID, b.user, 't', false), b.upload(b.team.ID, b.user, 'm', false)
		b.start()
		if now := b.wait(samples); now.Status != reports.PendingReview || !slices.Equal(now.Reasons, []reports.ReviewReason{reports.SeveralCollections}) {
			t.Errorf("a report of two days of collection is %s %v", now.Status, now.Reasons)
		}
		if now := b.wait(mother); now.Status != reports.PendingReview || !slices.Equal(now.Reasons, []reports.ReviewReason{reports.PatientUnidentified}) || now.Patient != reports.PatientUnknown {
			t.Errorf("a report with only another person's birth date is %s %v %s", now.Status, now.Reasons, now.Patient)
		}
		if now := b.wait(unnamed); now.Status != reports.PendingReview || !slices.Equal(now.Reasons, []reports.ReviewReason{reports.PatientUnidentified}) || now.Patient != reports.PatientUnknown {
			t.Errorf("a report without a person is %s %v %s", now.Status, now.Reasons, now.Patient)
		}
		if now := b.wait(two); now.Status != reports.PendingReview || !slices.Contains(now.Reasons, reports.PatientMismatch) || now.Patient != reports.PatientDiffers {
			t.Errorf("a file of two persons is %s %v %s", now.Status, now.Reasons, now.Patient)
		} else if !slices.Equal(now.Problems, []identity.Problem{reports.SeveralPersons}) {
			t.Errorf("a file of two persons has the problems %v", now.Problems)
		}
		if _, err := b.decide(two, reports.Review{Decision: reports.Accept, Reviewer: "Jo"}); !fault.Is(err, fault.Unprocessable) {
			t.Errorf("a file of two persons is accepted without a confirmation: %v", err)
		}
		if n := len(b.history().Reports); n != 0 {
			t.Errorf("%d reports are read with the user's results", n)
		}
	})
}

// A rejection by mistake is repaired by accepting the report. Its corrections remain, and
// the notice of its critical value is raised again.
func TestRejectedReportIsReopened(t *testing.T) {
	db := storetest.SQLite(t)
	b := newFixture(t, db)
	b.reader.outcomes['c'] = func() (extract.Result, error) {
		return glucose("", setGlucose("51.2", 51.2, time.Now().UTC().Format(time.DateOnly))), nil
	}
	b.start()
	j := b.wait(b.upload(b.team.ID, b.user, 'c', true))
	higher := "512"
	corrected := reports.Review{Decision: reports.Accept, Reviewer: "Jo", Corrections: []reports.Correction{{Row: new(int), Value: &higher}}}
	reject := reports.Review{Decision: reports.Reject, Reviewer: "Jo"}
	for i, review := range []reports.Review{corrected, reject} {
		review.Revision = i + 1
		if _, err := b.decide(j, review); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.decide(j, reject); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second rejection: %v", err)
	}
	if now := b.wait(b.upload(b.team.ID, b.user, 'c', true)); now.ID != j.ID || now.Status != reports.Failed {
		t.Errorf("after the rejection the same file is %s %s", now.ID, now.Status)
	}
	now, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Revision: 3})
	if err != nil || now.Status != reports.Completed || now.Message != "" || now.Worst != "critical" {
		t.Fatalf("the reopened report is %s %q %s: %v", now.Status, now.Message, now.Worst, err)
	}
	h := b.history()
	if docs := h.Documents(); len(docs) != 1 || docs[0].Result != "512" {
		t.Errorf("the results are %+v", docs)
	}
	if all := b.notices(); len(all) != 2 || all[0].State != critical.Open {
		t.Errorf("the notices are %+v", all)
	}
}

// A file that could not be read has no results to accept.
func TestUnreadReportIsNotReopened(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	b.reader.outcomes['n'] = func() (extract.Result, error) {
		return extract.Result{}, &extract.Failure{Reason: extract.NotEnglish, Detail: "The report is not in English."}
	}
	b.start()
	j := b.wait(b.upload(b.team.ID, b.user, 'n', false))
	if _, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("an acceptance without results: %v", err)
	}
}

// A correction does not turn a number into a text by mistake. To do so, a reviewer
// replaces the row.
func TestNumberIsNotCorrectedToText(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	b.start()
	j := b.wait(b.upload(b.team.ID, b.user, 'g', true))
	slip, text, name := "abc", "HEMOLYZED", "Glucose"
	review := reports.Review{Decision: reports.Accept, Reviewer: "Jo", Corrections: []reports.Correction{{Row: new(int), Value: &slip}}}
	if _, err := b.decide(j, review); !fault.Is(err, fault.Invalid) {
		t.Errorf("a number is corrected to a text: %v", err)
	}
	review.Corrections = []reports.Correction{{Row: new(int), Remove: true}, {Name: &name, Value: &text}}
	if _, err := b.decide(j, review); err != nil {
		t.Errorf("a text in place of a number: %v", err)
	}
}

// A corrected range changes the bounds, and a value without bounds is not normal.
func TestCorrectedRanges(t *testing.T) {
	db := storetest.SQLite(t)
	events.Register(db, events.NewCatalogue(append(users.EventTypes(), reports.EventTypes()...)...))
	b := newFixture(t, db)
	j := b.upload(b.team.ID, b.user, 'g', false)
	b.start()
	b.wait(j)
	text := func(s string) *string { return &s }
	high, low := 100.0, 10.0
	if _, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Corrections: []reports.Correction{{Row: new(int), Min: &high, Max: &low}}}); err == nil {
		t.Error("a lower bound above the upper bound is accepted")
	}
	_, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Corrections: []reports.Correction{
		{Row: new(int), Value: text("1,020")},
		{Name: text("Magnesium"), Value: text("9.0"), Range: text("1.6-2.3")},
		{Name: text("Phosphate"), Value: text("9.0")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	all := b.revisions(j)
	rows := all[len(all)-1].Rows
	if rows[0].Number == nil || *rows[0].Number != 1020 || !rows[0].AboveMax {
		t.Errorf("1,020: %+v", rows[0])
	}
	if rows[1].Interpretation != "abnormal" || rows[1].Range.Max == nil || *rows[1].Range.Max != 2.3 {
		t.Errorf("a result above its typed range: %+v", rows[1])
	}
	if rows[2].Interpretation != "unknown" {
		t.Errorf("a result without a range is %s", rows[2].Interpretation)
	}
}

func TestReviewKeepsTheFirstReading(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		events.Register(db, events.NewCatalogue(append(users.EventTypes(), reports.EventTypes()...)...))
		b := newFixture(t, db)
		j := b.upload(b.team.ID, b.user, 'a', true)
		b.start()
		if now := b.wait(j); now.Status != reports.PendingReview || now.Reviewed {
			t.Fatalf("the job is %s, reviewed %v", now.Status, now.Reviewed)
		}
		text := func(s string) *string { return &s }
		zero, five := 0, 5
		_, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Corrections: []reports.Correction{{Row: &five, Value: text("1")}}})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("a correction of no row: %v", err)
		}
		_, err = b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Revision: 7})
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("a decision about another revision: %v", err)
		}
		day := civil.MustParse("2026-03-05")
		now, err := b.decide(j, reports.Review{
			Decision: reports.Accept, Reviewer: "Jo Nurse", Note: "checked", Revision: 1,
			Metadata: reports.MetadataCorrection{Collected: &day},
			Corrections: []reports.Correction{
				{Row: &zero, Value: text("191")},
				{Name: text("Sodium"), Value: text("<140"), Units: text("mmol/L"), LOINC: text("2951-2")},
			},
		})
		if err != nil || now.Status != reports.Completed || !now.Reviewed {
			t.Fatalf("the decision: %v, job %+v", err, now)
		}
		all := b.revisions(j)
		if len(all) != 2 || all[0].Rows[0].Value != "91" || !all[0].Rows[0].NeedsReview || all[0].Author != "" {
			t.Fatalf("the first reading is %+v", all)
		}
		v := all[1]
		if r := v.Rows[0]; r.Value != "191" || *r.Number != 191 || !r.AboveMax || r.Interpretation != "abnormal" || r.NeedsReview {
			t.Errorf("the corrected result is %+v", r)
		}
		if r := v.Rows[1]; r.Comparator != "<" || r.Type != extract.Ranged || r.UCUM != "mmol/L" || r.Matches[0].Code != "2951-2" {
			t.Errorf("the added result is %+v", r)
		}
		if v.Author != "Jo Nurse" || v.Metadata.CollectedDate != "2026-03-05" || len(v.Changes) < 4 || v.Changes[1].Before != "91" {
			t.Errorf("the decision is stored as %+v", v.Changes)
		}
		if got := len(b.eventTypes()); got != 3 {
			t.Errorf("%d events", got)
		}
		if _, err = b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Revision: 2, Corrections: []reports.Correction{{Row: &zero, Remove: true}}}); err != nil {
			t.Fatal(err)
		}
		h := b.history()
		if docs := h.Documents(); len(docs) != 1 || docs[0].Name != "Sodium" {
			t.Errorf("after the removal: %+v", docs)
		}
	})
}

// A typed number is read as the reader reads a printed one. If the report leaves the meaning
// of commas open, 1,260 is refused.
func TestCorrectedNumbers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.reader.outcomes['b'] = func() (extract.Result, error) {
			return glucose("", func(r *extract.Result) {
				r.Rows[0].Value, r.Rows[0].Number, r.Rows[0].Reasons = "1,250", nil, []extract.Reason{extract.NumberUncertain}
			}), nil
		}
		b.start()
		zero, revision := 0, 1
		j := b.wait(b.upload(b.team.ID, b.user, 'b', true))
		for _, c := range []struct {
			text   string
			number float64 // 0: refused
		}{
			{"1,260", 0}, {"high", 0}, {"0,450", 0.45}, {"150'000", 150000}, {"1.234,5", 1234.5}, {"1,234", 1234},
		} {
			_, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo", Revision: revision, Corrections: []reports.Correction{{Row: &zero, Value: &c.text}}})
			var f *fault.Error
			if c.number == 0 {
				if !errors.As(err, &f) || strings.Join(f.Loc(), ".") != "body.corrections.0.value" {
					t.Errorf("%s: %v", c.text, err)
				}
				continue
			}
			all := b.revisions(j)
			if err != nil || all[len(all)-1].Rows[0].Number == nil || *all[len(all)-1].Rows[0].Number != c.number {
				t.Errorf("%s: %v, %+v", c.text, err, all[len(all)-1].Rows[0])
			}
			revision = len(all)
		}
	})
}

// A request that contradicts itself is refused. The error names the field, and nothing
// changes. Of two decisions without a revision, the second one is refused.
func TestContradictoryDecisions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		b.reader.outcomes['b'] = func() (extract.Result, error) {
			return glucose("", func(r *extract.Result) { r.Metadata.BirthDate = "1984-12-10" }), nil
		}
		b.start()
		j := b.wait(b.upload(b.team.ID, b.user, 'b', true))
		value, zero := "92", 0
		day := func(text string) *civil.Date { d := civil.MustParse(text); return &d }
		change, remove := reports.Correction{Row: &zero, Value: &value}, reports.Correction{Row: &zero, Remove: true}
		both := change
		both.Remove = true
		tomorrow := time.Now().UTC().AddDate(0, 0, 3).Format(time.DateOnly)
		for field, review := range map[string]reports.Review{
			"corrections.0":         {Decision: reports.Accept, Corrections: []reports.Correction{{Row: &zero}}},
			"corrections.1.row":     {Decision: reports.Accept, Corrections: []reports.Correction{change, remove}},
			"corrections.0.remove":  {Decision: reports.Accept, Corrections: []reports.Correction{both}},
			"corrections":           {Decision: reports.Reject, Corrections: []reports.Correction{change}},
			"metadata":              {Decision: reports.Reject, Metadata: reports.MetadataCorrection{Lab: &value}},
			"metadata.collected_on": {Decision: reports.Accept, Metadata: reports.MetadataCorrection{Collected: day(tomorrow)}},
			"metadata.reported_on":  {Decision: reports.Accept, Metadata: reports.MetadataCorrection{Reported: day("1980-01-01")}},
			"metadata.birth_date":   {Decision: reports.Accept, Metadata: reports.MetadataCorrection{BirthDate: day("2026-03-05")}},
		} {
			review.Reviewer = "Jo"
			_, err := b.decide(j, review)
			var f *fault.Error
			if !errors.As(err, &f) || !fault.Is(err, fault.Invalid) || strings.Join(f.Loc(), ".") != "body."+field {
				t.Errorf("%s: %v", field, err)
			}
		}
		if now := b.get(j); now.Status != reports.PendingReview || now.Revision != 1 {
			t.Errorf("the job is %s with revision %d", now.Status, now.Revision)
		}
		outcomes := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := b.decide(j, reports.Review{Decision: reports.Accept, Reviewer: "Jo"})
				outcomes <- err
			}()
		}
		first, second := <-outcomes, <-outcomes
		if first != nil {
			first, second = second, first
		}
		if first != nil || !fault.Is(second, fault.Conflict) {
			t.Errorf("two decisions at once: %v; %v", first, second)
		}
	})
}

// A row without a value is shown in its report, and is no result of the user.
func TestRowWithoutAValueIsNoResult(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	b.reader.outcomes['v'] = func() (extract.Result, error) {
		return glucose("", func(r *extract.Result) {
			r.Rows = append(r.Rows, extract.Row{Name: "Ferritin", Type: extract.Comment, Page: 1, NeedsReview: true, Reasons: []extract.Reason{extract.ValueMissing}},
				extract.Row{Name: "Cortisol", Value: "To follow", Type: extract.Comment, Page: 1, NeedsReview: true, Reasons: []extract.Reason{extract.ValueMissing}})
		}), nil
	}
	b.start()
	j := b.wait(b.upload(b.team.ID, b.user, 'v', false))
	if rows := b.revisions(j)[0].Rows; j.Status != reports.Completed || len(rows) != 3 {
		t.Errorf("the job is %s with %d rows", j.Status, len(rows))
	}
	h := b.history()
	if docs := h.Documents(); len(docs) != 1 || docs[0].Name != "Glucose" {
		t.Errorf("the results are %+v", docs)
	}
}

// A result of the same sample with another value waits for a person.
func TestContradictingResultWaitsForReview(t *testing.T) {
	db := storetest.SQLite(t)
	b := newFixture(t, db)
	b.reader.outcomes['a'] = func() (extract.Result, error) { return glucose("S-1"), nil }
	b.reader.outcomes['b'] = func() (extract.Result, error) {
		return glucose("s-1", func(r *extract.Result) { *r.Rows[0].Number, r.Rows[0].Value = 19, "19" }), nil
	}
	first := b.upload(b.team.ID, b.user, 'a', false)
	b.start()
	b.wait(first)
	if now := b.wait(b.upload(b.team.ID, b.user, 'b', false)); now.Status != reports.PendingReview || !slices.Contains(now.Reasons, reports.ContradictsStored) {
		t.Errorf("the job is %s %v", now.Status, now.Reasons)
	}
}

// Units that mean the same do not keep a result from repeating another one.
func TestRepeatsInOtherUnits(t *testing.T) {
	b := newFixture(t, storetest.SQLite(t))
	of := func(code, unit string) func() (extract.Result, error) {
		return func() (extract.Result, error) {
			return glucose("S-"+code, func(r *extract.Result) {
				r.Rows[0].Name, r.Rows[0].Unit, r.Rows[0].UCUM, r.Rows[0].Matches = code, unit, unit, []extract.Match{{Code: code, Confidence: 1}}
			}), nil
		}
	}
	b.reader.outcomes['a'], b.reader.outcomes['b'] = of("2951-2", "mmol/L"), of("2951-2", "meq/L")
	b.reader.outcomes['c'], b.reader.outcomes['d'] = of("2601-3", "mmol/L"), of("2601-3", "meq/L")
	b.reader.outcomes['e'], b.reader.outcomes['f'] = of("15067-2", "U/L"), of("15067-2", "[IU]/L")
	b.start()
	for i, repeats := range []bool{false, true, false, false, false, true} {
		if j := b.wait(b.upload(b.team.ID, b.user, byte('a'+i), false)); len(b.revisions(j)[0].Repeated) == 1 != repeats {
			t.Errorf("%c repeats %v", 'a'+i, b.revisions(j)[0].Repeated)
		}
	}
}

// The reports of a deleted user are not read until the user is restored.
func TestDeletedUserWaits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		j := b.upload(b.team.ID, b.user, 'a', false)
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, b.team.ID, b.user.ID) })
		b.start()
		if err := b.runner.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx := store.AsSystem(t.Context())
		err := db.Read(ctx, func(tx *store.Tx) error {
			_, err := reports.Get(ctx, tx, b.team.ID, j.ID)
			return err
		})
		if !fault.Is(err, fault.NotFound) || len(b.reader.read) != 0 {
			t.Errorf("the job of a deleted user: %v, read %q", err, b.reader.read)
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			return users.UndoDelete(ctx, tx, b.team.ID, users.Ref{ID: &b.user.ID})
		})
		if now := b.wait(j); now.Status != reports.Completed {
			t.Errorf("after the restoration the job is %s", now.Status)
		}
	})
}

// A stopped node returns its report, and the start does not count.
func TestStoppedNodeReturnsItsReport(t *testing.T) {
	db := storetest.SQLite(t)
	b := newFixture(t, db)
	b.reader.hold = make(chan struct{})
	j := b.upload(b.team.ID, b.user, 'a', false)
	t.Run("first node", func(t *testing.T) {
		first := *b
		first.t = t
		first.start()
		time.Sleep(50 * time.Millisecond)
	})
	close(b.reader.hold)
	b.start()
	if now := b.wait(j); now.Status != reports.Completed {
		t.Errorf("the job is %s", now.Status)
	}
}

// An event announces the request for a review of the same file, before and after the file
// is read. A repeated request changes nothing.
func TestReviewRequestIsAnnounced(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		const created, updated = "lab_report.parsing_job.created", "lab_report.parsing_job.updated"
		waiting := b.upload(b.team.ID, b.user, 'a', false)
		for range 2 {
			b.upload(b.team.ID, b.user, 'a', true)
		}
		if now, got := b.get(waiting), b.eventTypes(); !now.Requested || now.Status != reports.Started || !slices.Equal(got, []string{created, updated}) {
			t.Errorf("a waiting report is %s, with the events %q", now.Status, got)
		}
		b.start()
		if now, got := b.wait(waiting), b.eventTypes(); now.Status != reports.PendingReview || !slices.Equal(got, []string{created, updated, updated}) {
			t.Errorf("the report is %s, with the events %q", now.Status, got)
		}
		before := len(b.eventTypes())
		read := b.wait(b.upload(b.team.ID, b.user, 'b', false))
		b.upload(b.team.ID, b.user, 'b', true)
		if now, got := b.get(read), b.eventTypes()[before:]; !now.Requested || now.Status != reports.PendingReview || !slices.Equal(got, []string{created, updated, updated}) {
			t.Errorf("a report that was read is %s, with the events %q", now.Status, got)
		}
	})
}
