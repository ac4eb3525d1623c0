package files

import (
	"context"
	"maps"
	"slices"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/zones"
)

// Store stores the data of one provider that a reader finds. Only one goroutine may use
// it at a time.
type Store struct {
	in       Input
	outcome  *Outcome
	stage    wearables.Stage
	deriver  derive.Deriver
	days     map[civil.Date]bool
	ranges   map[string]wearables.Range // of the accepted values, by resource
	zone     *time.Location             // for values without an offset; nil means UTC
	progress Progress
	since    time.Time // the start of the import
}

// Store opens the store for the data of a provider. The store counts its changes in
// outcome.
func (in Input) Store(ctx context.Context, provider string, outcome *Outcome) (*Store, error) {
	stage := wearables.Daily
	if in.Stage != nil {
		var err error
		if stage, err = in.Stage(ctx, provider); err != nil {
			return nil, err
		}
	}
	s := &Store{
		in: in, outcome: outcome, stage: stage, days: map[civil.Date]bool{}, ranges: map[string]wearables.Range{},
		zone: wearables.FallbackFor(in.User, provider), progress: Progress{Step: Reading}, since: in.DB.Now(),
	}
	s.deriver = derive.Deriver{
		DB: in.DB, Ingester: in.Sink, User: in.User, Provider: provider, Stage: stage, Push: !in.HistoryOnly,
		Facts: derive.Facts{}, Stored: s.stored, Progress: s.summarised,
	}
	return s, nil
}

// DaysAreStated means that the provider states the totals of days, or their heart rate.
// Then values from its series do not replace them.
func (s *Store) DaysAreStated(totals, heart bool) {
	s.deriver.TotalsStated, s.deriver.HeartStated = totals, heart
}

// Samples stores samples; their days are summarised at the end.
func (s *Store) Samples(ctx context.Context, all []wearables.Samples) error {
	if err := s.ingest(ctx, wearables.Batch{Samples: all}); err != nil {
		return err
	}
	for i := range all {
		derive.DaysOf(s.days, &all[i], s.zone)
	}
	return nil
}

// Summaries stores summaries that the file has ready, and streams.
func (s *Store) Summaries(ctx context.Context, all []wearables.Summary, streams ...wearables.Stream) error {
	return s.ingest(ctx, wearables.Batch{Summaries: all, Streams: streams})
}

func (s *Store) ingest(ctx context.Context, b wearables.Batch) error {
	if len(b.Samples)+len(b.Summaries)+len(b.Streams) == 0 {
		return nil
	}
	b.Provider, b.Stage, b.Push, b.Imported = s.deriver.Provider, s.stage, !s.in.HistoryOnly, true
	result, err := s.in.Sink.Ingest(ctx, s.in.User, b)
	if err == nil {
		s.stored(b, result)
	}
	return err
}

// stored adds up the changes of a batch, and the time of its accepted values.
func (s *Store) stored(b wearables.Batch, r wearables.Result) {
	s.outcome.add(b, r)
	for resource, by := range r.Ranges {
		s.ranges[resource] = s.ranges[resource].Join(by)
	}
}

// Workouts stores workouts with their streams. Store their heart rate before, because
// averages, zones and streams use it.
func (s *Store) Workouts(ctx context.Context, all []derive.Workout) error {
	return s.deriver.Workouts(ctx, all)
}

// Fact overlays new facts about a day.
func (s *Store) Fact(day civil.Date, f derive.DayFacts) {
	s.days[day] = true
	known := s.deriver.Facts[day]
	overlay(&known.RestingBPM, f.RestingBPM)
	overlay(&known.WalkingBPM, f.WalkingBPM)
	overlay(&known.ActiveKcal, f.ActiveKcal)
	s.deriver.Facts[day] = known
}

func overlay(known **float64, v *float64) {
	if v != nil {
		*known = v
	}
}

// Sleep keeps the sleep of one source until the nights are summarised.
func (s *Store) Sleep(one *derive.Sleeper) {
	s.deriver.Sleep = append(s.deriver.Sleep, one)
	one.DaysOf(s.days, s.zone)
}

// Person stores the file's facts about the person, for zones and the profile.
func (s *Store) Person(p *derive.Person) { s.deriver.Person = p }

// Finish derives the summaries of all days that the file touched. If the file brought
// the history, it announces that the history is complete. Resources without accepted
// values have no history.
func (s *Store) Finish(ctx context.Context) error {
	s.progress.Step, s.progress.Done = Summarising, s.outcome.Bytes
	s.progress.Records, s.progress.Skipped = s.outcome.Records, s.outcome.Skipped()
	s.outcome.Days += len(s.days)
	if err := s.deriver.Days(ctx, slices.Collect(maps.Keys(s.days))); err != nil {
		return err
	}
	if err := s.deriver.Profile(ctx); err != nil {
		return err
	}
	// The file has the workouts that it stored complete. Others may have other samples now.
	if err := zones.Renew(ctx, s.in.DB, s.in.User, s.deriver.Provider, slices.Collect(maps.Keys(s.days)), s.since); err != nil {
		return err
	}
	past, err := s.past(ctx)
	if err != nil {
		return err
	}
	return s.in.Sink.HistoricalDone(ctx, s.in.User, s.deriver.Provider, past)
}

// past returns the time ranges of the resources whose history this file has brought.
// After the historical stage, another file of the same export may still bring the history
// of further resources.
func (s *Store) past(ctx context.Context) (map[string]wearables.Range, error) {
	if s.stage == wearables.Historical {
		return s.ranges, nil
	}
	if s.in.Unheard == nil || len(s.ranges) == 0 {
		return nil, nil
	}
	unheard, err := s.in.Unheard(ctx, s.deriver.Provider)
	if err != nil {
		return nil, err
	}
	past := maps.Clone(s.ranges)
	maps.DeleteFunc(past, func(resource string, _ wearables.Range) bool { return !unheard(resource) })
	return past, nil
}

// ReportProgress reports the progress of reading: bytes of the document and records.
func (s *Store) ReportProgress(done, total, records, skipped int64) {
	s.progress.Done, s.progress.Total, s.progress.Records, s.progress.Skipped = done, total, records, skipped
	s.reportProgress()
}

func (s *Store) summarised(done, total int) {
	s.progress.Days, s.progress.TotalDays = int64(done), int64(total)
	s.reportProgress()
}

func (s *Store) reportProgress() {
	if s.in.Progress != nil {
		s.in.Progress(s.progress)
	}
}
