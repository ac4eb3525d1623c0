// Package days keeps the activity and body summaries of days up to date with pushed
// samples. Imports and replies of providers derive their own summaries.
//
// A push enqueues a job. The job derives the days of the push from all samples that are
// stored when it runs. So any order of pushes and imports gives the same summaries. A
// summary is removed if its samples belong to another day by then. If the phone itself
// pushed an activity for a day, the day keeps that activity and no other. A sleep without
// totals gets them from its stages. The heart rate of workouts follows corrected samples.
package days

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/zones"
)

// Service derives summaries from pushed samples.
type Service struct {
	Ingester derive.Ingester

	mu      sync.Mutex
	pending map[string]time.Time // earliest start of the jobs that this process enqueued
}

// Args identifies the days of a job.
type Args struct {
	User        users.ID   `json:"user"`
	Provider    string     `json:"provider"`
	First, Last civil.Date // UTC
	Historical  bool       `json:"historical"`
}

// The first push of a user starts a job after firstDelay, and all pushes within delay
// share another one. A job sees the data of a push if that commits within commitTime.
const (
	firstDelay = 3 * time.Second
	delay      = 30 * time.Second
	commitTime = 10 * time.Second
	maxPending = 100_000
)

// farthestZone is the largest distance of a zone from UTC.
const farthestZone = 14 * time.Hour

// Changed enqueues a job for the days of pushed samples. It is an ingest.Listener.
func (s *Service) Changed(ctx context.Context, tx *store.Tx, user users.User, changes []wearables.TouchedData) error {
	var one Args
	var oldest, newest int64
	for _, c := range changes {
		if !c.Pushed || !derive.OfDays(c.Resource) && c.Resource != "sleep" && c.Resource != "sleep_cycle" {
			continue
		}
		if one.Provider == "" {
			oldest, newest = c.Oldest, c.Newest
		}
		one.Provider, one.Historical = c.Provider, c.Historical
		oldest, newest = min(oldest, c.Oldest), max(newest, c.Newest)
	}
	if one.Provider == "" {
		return nil
	}
	one.User = user.ID
	one.First = civil.DateOf(store.FromMicros(oldest).Add(-farthestZone))
	one.Last = civil.DateOf(store.FromMicros(newest).Add(farthestZone))
	key := strings.Join([]string{user.ID.String(), one.Provider, one.First.String(), one.Last.String(), fmt.Sprint(one.Historical)}, "/")
	now := tx.Now()
	at, known := s.startOf(key)
	if known && now.Before(at.Add(-commitTime)) {
		return nil
	}
	if !known {
		if err := s.enqueue(ctx, tx, user, one, key+"/first", now.Add(firstDelay)); err != nil {
			return err
		}
	}
	return s.enqueue(ctx, tx, user, one, key, now.Add(delay))
}

func (s *Service) enqueue(ctx context.Context, tx *store.Tx, user users.User, one Args, key string, at time.Time) error {
	start, err := kind(nil).EnqueueAt(ctx, tx, one, jobs.Options{Team: user.Team.UUID(), Key: key, At: at})
	if err != nil {
		return fmt.Errorf("days: %w", err)
	}
	tx.AfterCommit(func() { s.remember(key, start) })
	return nil
}

func (s *Service) startOf(key string) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.pending[key]
	return at, ok
}

func (s *Service) remember(key string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == nil || len(s.pending) >= maxPending {
		s.pending = map[string]time.Time{}
	}
	s.pending[key] = at
}

// Job returns the handler for the job runner.
func (s *Service) Job() jobs.Handler { return kind(s) }

func kind(s *Service) jobs.Kind[Args] {
	return jobs.Define("wearables.days", func(ctx context.Context, run *jobs.Run, a Args) error {
		err := s.Derive(ctx, run.DB(), ids.FromUUID[teams.Team](run.Team), a)
		if fault.Is(err, fault.NotFound) { // the user is gone
			return nil
		}
		return err
	})
}

// Derive derives the summaries of the days from all samples that are stored.
func (s *Service) Derive(ctx context.Context, db *store.DB, team teams.ID, a Args) error {
	d := derive.Deriver{DB: db, Ingester: s.Ingester, Provider: a.Provider, Pushed: true}
	if a.Historical {
		d.Stage = wearables.Historical
	}
	err := db.Read(ctx, func(tx *store.Tx) (err error) {
		if d.User, err = users.Get(ctx, tx, team, a.User); err != nil {
			return err
		}
		owner, err := teams.Get(ctx, tx, team)
		d.Push = owner.Settings.PushHistoricalData
		return err
	})
	if err != nil {
		return err
	}
	var all []civil.Date
	for day := a.First; !day.After(a.Last); day = day.AddDays(1) {
		all = append(all, day)
	}
	return errors.Join(deletion.Renew(ctx, d, all), addTotals(ctx, d, a), zones.Renew(ctx, db, d.User, a.Provider, all, time.Time{}))
}
