package ingest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/wearables"

	"github.com/google/uuid"
)

// heard is what a batch tells of one resource, for introspection.
type heard struct {
	resource string // its name in events
	stored   bool   // anything of it could be stored
	changed  bool   // anything of it is new
	// oldest and newest bound the data, UTC microseconds; 0 when it has no time.
	oldest, newest int64
}

// hear adds data of a resource to what the batch tells.
func (j *job) hear(resource string, oldest, newest int64, changed bool) {
	h := j.heardOf(resource)
	if !h.stored || oldest < h.oldest {
		h.oldest = oldest
	}
	if !h.stored || newest > h.newest {
		h.newest = newest
	}
	h.stored, h.changed = true, h.changed || changed
}

func (j *job) heardOf(resource string) *heard {
	for i := range j.heard {
		if j.heard[i].resource == resource {
			return &j.heard[i]
		}
	}
	j.heard = append(j.heard, heard{resource: resource})
	return &j.heard[len(j.heard)-1]
}

// listen gathers what the batch tells of its resources, once it is planned:
// before that nobody knows which summaries and streams are refused.
func (j *job) listen() {
	j.heard = j.heard[:0]
	for _, w := range j.series {
		j.hear(w.resource.Event, w.add.Time[0], w.add.Time[len(w.add.Time)-1], len(w.blocks) > 0)
	}
	for _, w := range j.summaries {
		if !w.tooLarge {
			oldest, newest := w.bounds()
			j.hear(w.Resource, oldest, newest, w.verb != "")
		}
	}
	for _, w := range j.streams {
		if !w.orphan {
			j.hear(wearables.WorkoutStream, w.span.Start.UnixMicro(), w.span.End.UnixMicro(), w.verb != "")
		}
	}
	for _, r := range j.refusals() {
		if wearables.KnownResource(r.Resource) {
			j.heardOf(wearables.EventName(r.Resource)) // an attempt all the same
		}
	}
	slices.SortFunc(j.heard, func(a, b heard) int { return strings.Compare(a.resource, b.resource) })
}

// failed says whether nothing of some resource could be stored.
func (j *job) failed() bool {
	return slices.ContainsFunc(j.heard, func(h heard) bool { return !h.stored })
}

// bounds is the time that a summary is about; 0 for a profile.
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

// noted is a row of statistics: what one batch told of one resource.
type noted struct {
	team, user         uuid.UUID
	provider, resource string
	at, sent           int64
	stored             bool
	oldest, newest     *int64
	history            *int64 // when history came in
}

// notes are the rows that the batch changes: one for each resource, whatever
// the number of its samples.
func (j *job) notes(now time.Time, sent []events.New) []noted {
	all := make([]noted, len(j.heard))
	at := store.Micros(now)
	for i := range j.heard {
		h := &j.heard[i]
		all[i] = noted{
			team: j.team, user: j.user, provider: j.provider, resource: h.resource,
			at: at, stored: h.stored, sent: about(sent, h.resource),
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

// note keeps what the batch tells.
func (j *job) note(ctx context.Context, tx *store.Tx, sent []events.New) error {
	for _, n := range j.notes(tx.Now(), sent) {
		if _, err := tx.Exec(ctx, upsertHeard, n.args()...); err != nil {
			return fmt.Errorf("wearables: keeping statistics: %w", err)
		}
	}
	return j.uncount(ctx, tx)
}

func (n *noted) args() []any {
	return []any{n.team, n.user, n.provider, n.resource, n.at, n.stored, n.sent, n.oldest, n.newest, n.history, n.history}
}

func (n noted) compare(o noted) int {
	return cmp.Or(bytes.Compare(n.user[:], o.user[:]), strings.Compare(n.resource, o.resource))
}

const (
	heardColumns = `team_id, user_id, provider, resource, attempted_at, stored, sent, oldest, newest, history_since, history_until`
	replaceHeard = `ON CONFLICT (team_id, user_id, provider, resource) DO UPDATE SET
		attempted_at = excluded.attempted_at, stored = excluded.stored, sent = s.sent + excluded.sent,
		oldest = COALESCE(CASE WHEN excluded.oldest < s.oldest THEN excluded.oldest ELSE s.oldest END, excluded.oldest),
		newest = COALESCE(CASE WHEN excluded.newest > s.newest THEN excluded.newest ELSE s.newest END, excluded.newest),
		history_since = COALESCE(s.history_since, excluded.history_since),
		history_until = COALESCE(excluded.history_until, s.history_until)`
	intoHeard   = `INSERT INTO resource_statistics AS s (` + heardColumns + `)`
	upsertHeard = intoHeard + ` VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ` + replaceHeard
)

// about counts the events about a resource's data: daily.data.<resource>.….
func about(sent []events.New, resource string) (n int64) {
	for i := range sent {
		name, found := strings.CutPrefix(sent[i].Type, "daily.data.")
		if found && len(name) > len(resource) && name[len(resource)] == '.' && name[:len(resource)] == resource {
			n++
		}
	}
	return n
}
