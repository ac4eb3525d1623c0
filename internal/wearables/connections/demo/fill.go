package demo

import (
	"context"
	"fmt"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
)

// fillRun is a stretch of time that is being invented.
type fillRun struct {
	*person
	from, to time.Time
	days     []*day
	nights   []civil.Date // whose sleep is over
	samples  []*series
	sleep    *derive.Sleeper
	workouts []derive.Workout
	who      *derive.Person
}

// Fill generates the data that a demo connection lacks, up to now, and stores
// it with its events. The first time that is its history. Fill ignores a
// connection that was removed.
func (s *Service) Fill(ctx context.Context, team teams.ID, user users.ID, provider string) error {
	var d connections.Demo
	var who users.User
	var settings teams.Settings
	found := false
	err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if who, err = users.Get(ctx, tx, team, user); err != nil {
			return err
		}
		one, err := teams.Get(ctx, tx, team)
		if err != nil {
			return err
		}
		settings = one.Settings
		d, found, err = connections.DemoOf(ctx, tx, team, user, provider)
		return err
	})
	if err != nil || !found {
		return err
	}
	now := s.DB.Now()
	f := begin(who, d, now)
	byProvider[provider].generate(f)
	if err := s.store(ctx, f, d, who, settings); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return s.DB.Write(ctx, func(tx *store.Tx) error { return connections.SetFilled(ctx, tx, d, now) })
}

// begin lays out the days. A continued stretch begins at the midnight before the last
// complete day, so that a night over that midnight is complete.
func begin(user users.User, d connections.Demo, now time.Time) *fillRun {
	f := &fillRun{person: personOf(user), to: now}
	today := civil.DateOf(now.In(f.zone))
	first := today.AddDays(-d.Days)
	if d.FilledTo != nil {
		first = civil.DateOf(d.FilledTo.In(f.zone)).AddDays(-1)
	}
	f.from = first.In(f.zone)
	for date := first; !date.After(today); date = date.AddDays(1) {
		f.days = append(f.days, f.dayOf(date))
		if !f.wakeOn(date).After(now) {
			f.nights = append(f.nights, date)
		}
	}
	return f
}

// emit adds the series that have samples.
func (f *fillRun) emit(all ...*series) {
	for _, s := range all {
		if s != nil && s.Len() > 0 {
			f.samples = append(f.samples, s)
		}
	}
}

// store stores the generated data like an imported file.
func (s *Service) store(ctx context.Context, f *fillRun, d connections.Demo, user users.User, settings teams.Settings) error {
	stage := wearables.Daily
	if d.FilledTo == nil {
		stage = wearables.Historical
	}
	in := files.Input{
		DB: s.DB, Sink: s.Sink, User: user,
		HistoryOnly: stage == wearables.Historical && !settings.PushHistoricalData,
		Stage:       func(context.Context, string) (wearables.Stage, error) { return stage, nil },
	}
	to, err := in.Store(ctx, d.Provider, files.NewOutcome())
	if err != nil {
		return err
	}
	for _, one := range f.samples {
		if err := to.Samples(ctx, []wearables.Samples{one.Samples}); err != nil {
			return err
		}
	}
	if err := to.Workouts(ctx, f.workouts); err != nil {
		return err
	}
	if f.sleep != nil {
		to.Sleep(f.sleep)
	}
	if f.who != nil {
		to.Person(f.who)
	}
	return to.Finish(ctx)
}

// ensureDevice adds the device of the generated data to the user.
func ensureDevice(ctx context.Context, tx *store.Tx, user users.User, provider string) error {
	p := byProvider[provider]
	_, err := connections.EnsureDevice(ctx, tx, user, connections.Device{
		Provider: provider, SourceType: p.hardware, Manufacturer: "Demo", Model: p.model, ExternalID: "demo-" + p.hardware, Version: "1.0",
	})
	return err
}
