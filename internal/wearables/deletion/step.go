package deletion

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/storage"
)

// A step deletes some summaries, or the samples of some blocks. The first steps delete
// summaries, until none is left. Then each step continues where the last one ended.

// position holds the place at which the next step continues.
type position struct {
	Summaries bool  `json:"summaries,omitempty"` // they are done
	Series    int64 `json:"series,omitempty"`    // series with smaller numbers are done
	Time      int64 `json:"time,omitempty"`      // and this series up to here
	Change    int64 `json:"change,omitempty"`    // of an import: the changes up to here are undone
	// Days are those whose summaries are derived again, by provider.
	Days map[string][]civil.Date `json:"days,omitempty"`
	// RederiveDays has the days, by provider, whose pushed activity was deleted. Their activity
	// is derived from samples.
	RederiveDays map[string][]civil.Date `json:"again,omitempty"`
	// WorkoutDays has the days, by provider, of workouts that were restored or moved without
	// their samples.
	WorkoutDays map[string][]civil.Date `json:"workouts,omitempty"`
}

// Bounds of a step.
const (
	summariesAtOnce = 500
	blocksAtOnce    = 500
)

// step deletes a part. It returns false when the deletion is complete.
func (s *Service) step(ctx context.Context, tx *store.Tx, user users.User, d *Deletion) (more bool, err error) {
	if err := tx.Lock(ctx, "wearables:"+user.ID.String()); err != nil && !d.DryRun {
		return false, err
	}
	switch {
	case d.Filter.Import != uuid.Nil:
		more, err = d.undoSome(ctx, tx, user)
	case d.Filter.Shift.Seconds != 0:
		more, err = s.shiftSome(ctx, tx, user, d)
	case d.Filter.Duplicates:
		more, err = d.duplicates(ctx, tx)
	case !d.at.Summaries:
		d.at.Summaries, err = d.summaries(ctx, tx)
		more = true
	default:
		more, err = d.samples(ctx, tx, user)
	}
	if err != nil || more {
		return more, err
	}
	return false, s.finish(ctx, tx, user, d)
}

// summaries deletes some summaries and streams. done reports that none is left.
func (d *Deletion) summaries(ctx context.Context, tx *store.Tx) (done bool, err error) {
	n := 0
	for _, resource := range documentsOf(d.Filter.Resource) {
		q := storage.SummaryQuery{
			Resource: resource, Provider: d.Filter.Provider, From: d.Filter.FirstDay, To: d.Filter.LastDay, Limit: summariesAtOnce,
		}
		for {
			page, err := storage.ListSummaries(ctx, tx, d.Team.UUID(), d.User.UUID(), q)
			if err != nil {
				return false, err
			}
			for i := range page {
				if !d.Filter.summary(&page[i]) {
					continue
				}
				if err := d.summary(ctx, tx, &page[i]); err != nil {
					return false, err
				}
				if err := d.cycles(ctx, tx, &page[i]); err != nil {
					return false, err
				}
				d.noteAgain(&page[i])
				n++
			}
			if n >= summariesAtOnce && !d.DryRun {
				return false, nil
			}
			if len(page) < q.Limit {
				break
			}
			q.After = &page[len(page)-1]
		}
	}
	return true, nil
}

// duplicates deletes some older versions of sessions. They leave no fingerprints: the same
// record is found as a version of the newer one when it comes again.
func (d *Deletion) duplicates(ctx context.Context, tx *store.Tx) (more bool, err error) {
	var all []storage.Session
	err = storage.DuplicateSessions(ctx, tx, d.Team.UUID(), d.User.UUID(), func(s *storage.Session) { all = append(all, *s) })
	if err != nil {
		return false, err
	}
	if more = len(all) > summariesAtOnce && !d.DryRun; more {
		all = all[:summariesAtOnce]
	}
	for i := range all {
		s, err := storage.SummaryByID(ctx, tx, d.Team.UUID(), all[i].ID, all[i].Resource)
		if err != nil {
			return false, err
		}
		if err := d.ownCycles(ctx, tx, &s); err != nil {
			return false, err
		}
		if err := d.summary(ctx, tx, &s); err != nil {
			return false, err
		}
	}
	return more, nil
}

// ownCycles deletes the cycles that name a sleep, if there is another one of that time.
func (d *Deletion) ownCycles(ctx context.Context, tx *store.Tx, s *storage.StoredSummary) error {
	if s.Resource != "sleep" {
		return nil
	}
	start, end := s.Bounds()
	all, err := storage.SessionsBetween(ctx, tx, s.Team, s.User, "sleep_cycle", s.Source.Provider, store.FromMicros(start), store.FromMicros(end))
	if err != nil {
		return err
	}
	var own []storage.StoredSummary
	for i := range all {
		if err := all[i].Open(ctx, tx); err != nil {
			return err
		}
		var body struct {
			Sleep uuid.UUID `json:"sleep_id"`
		}
		if json.Unmarshal(all[i].Body, &body) == nil && body.Sleep == s.ID {
			own = append(own, all[i])
		}
	}
	if len(own) == len(all) {
		return nil
	}
	for i := range own {
		if err := d.summary(ctx, tx, &own[i]); err != nil {
			return err
		}
	}
	return nil
}

// documentsOf returns the kinds of summaries that a resource selects. A sleep takes its
// cycle with it, a workout its stream.
func documentsOf(resource string) (all []string) {
	switch resource {
	case wearables.WorkoutStream:
		return []string{"workouts"}
	case "sleep":
		return []string{"sleep", "sleep_cycle"}
	case "":
		for _, d := range wearables.Documents() {
			all = append(all, d.Name)
		}
		return all
	}
	if d, ok := wearables.DocumentNamed(resource); ok {
		return []string{d.Name}
	}
	return nil
}

// cycles deletes the cycles of a sleep that the filter does not select themselves: the
// phone gives only the sleep its id.
func (d *Deletion) cycles(ctx context.Context, tx *store.Tx, s *storage.StoredSummary) error {
	if s.Resource != "sleep" {
		return nil
	}
	all, err := storage.CyclesOf(ctx, tx, s)
	storage.ShareRecord(all, s)
	for i := range all {
		if d.Filter.summary(&all[i]) {
			continue
		}
		if err := d.summary(ctx, tx, &all[i]); err != nil {
			return err
		}
	}
	return err
}

// summary deletes one summary with its stream, or its stream only.
func (d *Deletion) summary(ctx context.Context, tx *store.Tx, s *storage.StoredSummary) error {
	first := s.BeginsOrDay()
	stream := false
	if s.Resource == "workouts" {
		at, _, err := storage.StreamTime(ctx, tx, s.Team, s.User, s.ID)
		if err != nil {
			return err
		}
		stream = at != 0
	}
	if stream {
		d.Report.count(wearables.WorkoutStream, s.Source.Provider, 1, first, first).add(s.ID)
	}
	if d.Filter.Resource == wearables.WorkoutStream {
		if d.DryRun || !stream {
			return nil
		}
		_, err := storage.DeleteStream(ctx, tx, s)
		return err
	}
	d.Report.count(s.Resource, s.Source.Provider, 1, first, first).add(s.ID)
	if d.DryRun {
		return nil
	}
	return s.Delete(ctx, tx, !d.Filter.Undo)
}

func (c *Count) add(id uuid.UUID) {
	if len(c.IDs) < maxIDs {
		c.IDs = append(c.IDs, id)
	}
}

// samples deletes the samples of some blocks.
func (d *Deletion) samples(ctx context.Context, tx *store.Tx, user users.User) (more bool, err error) {
	if len(documentsOf(d.Filter.Resource)) > 0 && d.Filter.Resource != "" {
		return false, nil
	}
	if len(d.Filter.ExternalIDs) > 0 {
		return false, d.records(ctx, tx, user)
	}
	all, err := storage.SeriesOf(ctx, tx, d.Team.UUID(), d.User.UUID(), d.Filter.Resource)
	if err != nil {
		return false, err
	}
	slices.SortFunc(all, func(a, b storage.Series) int { return int(a.ID - b.ID) })
	from, to := d.Filter.bounds()
	read := 0
	for i := range all {
		s := &all[i]
		if s.ID < d.at.Series || !d.Filter.series(s) {
			continue
		}
		at := from
		if s.ID == d.at.Series {
			at = max(from, d.at.Time)
		}
		r := storage.Removal{From: from, To: to, DryRun: d.DryRun, Removed: d.removed(user, 0)}
		for more := true; more; {
			var n int
			if at, n, more, err = r.Blocks(ctx, tx, s, at); err != nil {
				return false, err
			}
			if read += n; more && read >= blocksAtOnce {
				d.at.Series, d.at.Time = s.ID, at
				return true, nil
			}
		}
		if !d.DryRun {
			if err := storage.ForgetSampleRecords(ctx, tx, s, from, to-1); err != nil {
				return false, err
			}
		}
		if read >= blocksAtOnce {
			d.at.Series, d.at.Time = s.ID+1, 0
			return true, nil
		}
	}
	return false, nil
}

// removed returns a function that counts deleted samples, and notes the days whose
// summaries follow them.
func (d *Deletion) removed(user users.User, restored int64) func(s *wearables.Samples) {
	return func(s *wearables.Samples) {
		n := s.Len()
		c := d.Report.count(s.Resource, s.Source.Provider, int64(n), s.Time[0], s.Time[n-1])
		c.Restored += restored
		if !d.DryRun {
			d.noteDays(user, s)
		}
	}
}

// noteDays notes the days of samples, whose summaries are derived again.
func (d *Deletion) noteDays(user users.User, s *wearables.Samples) {
	days := map[civil.Date]bool{}
	derive.DaysOf(days, s, wearables.FallbackFor(user, s.Source.Provider))
	for day := range days {
		noteDay(&d.at.Days, s.Source.Provider, day)
	}
}

// noteAgain notes the day of a deleted activity.
func (d *Deletion) noteAgain(s *storage.StoredSummary) {
	day, err := civil.ParseDate(s.Day)
	if err == nil && !d.DryRun && s.Resource == "activity" && !derive.IsDerived(s, day) {
		noteDay(&d.at.RederiveDays, s.Source.Provider, day)
	}
}

// noteWorkout notes the day of a workout that was restored or moved, or whose stream was.
func (d *Deletion) noteWorkout(s *storage.StoredSummary) {
	if day, err := civil.ParseDate(s.Day); err == nil && s.Resource == "workouts" {
		noteDay(&d.at.WorkoutDays, s.Source.Provider, day)
	}
}

// noteDay adds a day of a provider.
func noteDay(to *map[string][]civil.Date, provider string, day civil.Date) {
	if *to == nil {
		*to = map[string][]civil.Date{}
	}
	known := (*to)[provider]
	if at, found := slices.BinarySearchFunc(known, day, civil.Date.Compare); !found {
		(*to)[provider] = slices.Insert(known, at, day)
	}
}
