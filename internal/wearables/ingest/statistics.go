package ingest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// receipt describes the data of one resource in a batch, for introspection.
type receipt struct {
	resource string // its name in events
	stored   bool   // some of it is valid
	changed  bool   // some of it is new
	// oldest and newest bound the data, UTC microseconds; 0 when it has no time.
	oldest, newest int64
}

// addReceipt adds data of a resource.
func (j *job) addReceipt(resource string, oldest, newest int64, changed bool) {
	h := j.receiptOf(resource)
	if !h.stored || oldest < h.oldest {
		h.oldest = oldest
	}
	if !h.stored || newest > h.newest {
		h.newest = newest
	}
	h.stored, h.changed = true, h.changed || changed
}

func (j *job) receiptOf(resource string) *receipt {
	for i := range j.received {
		if j.received[i].resource == resource {
			return &j.received[i]
		}
	}
	j.received = append(j.received, receipt{resource: resource})
	return &j.received[len(j.received)-1]
}

// noteReceived lists the data of the batch by resource. It follows planning, which
// refuses some summaries and streams.
func (j *job) noteReceived() {
	j.received = j.received[:0]
	for _, w := range j.series {
		j.addReceipt(w.resource.Event, w.add.Time[0], w.add.Time[len(w.add.Time)-1], len(w.blocks) > 0)
	}
	for _, w := range j.summaries {
		if !w.tooLarge && !w.waits {
			oldest, newest := w.bounds()
			j.addReceipt(w.Resource, oldest, newest, w.verb != "")
		}
	}
	for _, w := range j.ownStreams() {
		if !w.orphan {
			j.addReceipt(wearables.WorkoutStream, w.span.Start.UnixMicro(), w.span.End.UnixMicro(), w.verb != "")
		}
	}
	for _, r := range j.rejections() {
		if wearables.KnownResource(r.Resource) {
			j.receiptOf(wearables.EventName(r.Resource)) // an attempt
		}
	}
	slices.SortFunc(j.received, func(a, b receipt) int { return strings.Compare(a.resource, b.resource) })
}

// refusedAll reports whether all data of some resource is refused.
func (j *job) refusedAll() bool {
	return slices.ContainsFunc(j.received, func(h receipt) bool { return !h.stored })
}

// bounds returns the time that a summary is about; 0 for a profile.
func (w *summaryPlan) bounds() (oldest, newest int64) {
	start, end := w.Start, w.End
	if start.IsZero() && !w.Date.IsZero() {
		start = w.Date.In(time.UTC)
	}
	if start.IsZero() {
		return 0, 0
	}
	if end.IsZero() {
		end = start
	}
	return start.UnixMicro(), end.UnixMicro()
}

// statisticsRow is one batch's row about one resource.
type statisticsRow struct {
	team, user         uuid.UUID
	provider, resource string
	at, sent           int64
	stored             bool
	oldest, newest     *int64
	history            *int64 // when historical data was received
}

// statistics returns the rows of the batch, one for each resource.
func (j *job) statistics(now time.Time, sent []events.New) []statisticsRow {
	all := make([]statisticsRow, len(j.received))
	at := store.Micros(now)
	for i := range j.received {
		h := &j.received[i]
		all[i] = statisticsRow{
			team: j.team, user: j.user, provider: j.provider, resource: h.resource,
			at: at, stored: h.stored, sent: countEvents(sent, h.resource),
		}
		if h.newest != 0 {
			all[i].oldest, all[i].newest = &h.oldest, &h.newest
		}
		if j.stage == wearables.Historical {
			all[i].history = &at
		}
	}
	return all
}

// writeStatistics adds the batch to the statistics.
func (j *job) writeStatistics(ctx context.Context, tx *store.Tx, sent []events.New) error {
	for _, n := range j.statistics(tx.Now(), sent) {
		if _, err := tx.Exec(ctx, upsertStatistics, n.args()...); err != nil {
			return fmt.Errorf("ingest: writing statistics: %w", err)
		}
	}
	for i := range sent { // such as the cycles of a sleep that was replaced
		resource, found := resources.NameInDailyEvent(sent[i].Type)
		if !found || slices.ContainsFunc(j.received, func(h receipt) bool { return h.resource == resource }) {
			continue
		}
		if err := storage.CountSent(ctx, tx, j.team, j.user, j.provider, resource); err != nil {
			return err
		}
	}
	return j.discardDays(ctx, tx)
}

func (n *statisticsRow) args() []any {
	return []any{n.team, n.user, n.provider, n.resource, n.at, n.stored, n.sent, n.oldest, n.newest, n.history, n.history}
}

func (n statisticsRow) compare(o statisticsRow) int {
	return cmp.Or(bytes.Compare(n.user[:], o.user[:]), strings.Compare(n.resource, o.resource))
}

const (
	statisticsColumns = `team_id, user_id, provider, resource, attempted_at, stored, sent, oldest, newest, history_since, history_until`
	replaceStatistics = `ON CONFLICT (team_id, user_id, provider, resource) DO UPDATE SET
		attempted_at = excluded.attempted_at, stored = excluded.stored, sent = s.sent + excluded.sent,
		oldest = COALESCE(CASE WHEN excluded.oldest < s.oldest THEN excluded.oldest ELSE s.oldest END, excluded.oldest),
		newest = COALESCE(CASE WHEN excluded.newest > s.newest THEN excluded.newest ELSE s.newest END, excluded.newest),
		history_since = COALESCE(s.history_since, excluded.history_since),
		history_until = COALESCE(excluded.history_until, s.history_until)`
	intoStatistics   = `INSERT INTO resource_statistics AS s (` + statisticsColumns + `)`
	upsertStatistics = intoStatistics + ` VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ` + replaceStatistics
)

// countEvents counts the events about data of a resource: daily.data.<resource>.….
func countEvents(sent []events.New, resource string) (n int64) {
	for i := range sent {
		if name, found := resources.NameInDailyEvent(sent[i].Type); found && name == resource {
			n++
		}
	}
	return n
}
