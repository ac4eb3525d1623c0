package ingest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/events"
	"hale/internal/platform/rows"
	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/resources"
	"hale/internal/wearables/storage"
)

// seriesPlan holds the changes of one batch to one series. newJob fills the first
// part, plan the second, and write stores it. plan runs again if write returns
// ErrStale.
type seriesPlan struct {
	resource  *wearables.Resource
	key       storage.SeriesKey
	add       blocks.Columns // in time order, without duplicates
	owned     bool           // add is a copy, not the caller's memory
	hasUnsure bool           // some of its offsets are of the fallback zone or assumed
	versions  []*seriesPlan  // of the same app, whose samples replace those of this one, and the other way round
	deleted   int            // were deleted when their times were read by another zone

	series storage.Series // ID 0 if it is new
	blocks []storage.BlockVersion
	counts wearables.Counts
	drafts []draft
	ready  []rankedEvent // complete events, if the series has its number

	// Of a phone whose samples an export has too: the series of the export, and the
	// former and new versions of the changed samples.
	exports         []storage.Series
	changed, former blocks.Columns
	hidden          []events.New

	// Of an import: the times of new samples, and the former version of the others.
	newTimes []int64
	before   blocks.Columns
}

// workspace holds memory that is needed only while planning.
type workspace struct {
	old, merged      blocks.Columns
	created, updated blocks.Columns
	changes          blocks.Changes
	packed           []byte
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// maxKept bounds the memory that is kept between batches, in samples.
const maxKept = 1 << 17

func (ws *workspace) free() {
	if cap(ws.merged.Time) <= maxKept && cap(ws.created.Time) <= maxKept {
		workspaces.Put(ws)
	}
}

// plan reads the blocks that the new samples fall into, merges and packs
// them, and drafts the events.
func (w *seriesPlan) plan(ctx context.Context, tx *store.Tx, j *job) error {
	known, ok := j.in.series.get(j.user, w.key)
	if !ok {
		var err error
		if known, ok, err = storage.FindSeries(ctx, tx, j.team, j.user, w.key); err != nil {
			return err
		}
		switch {
		case !ok:
			known = w.key.Series(j.team, j.user, 0, widthFor(w.resource, &w.add))
		case j.snapshot: // data read in a write transaction may be rolled back
			j.in.series.put(known, w.key)
		}
	}
	w.series = known
	if len(j.readBefore) > 0 && known.ID != 0 {
		if err := w.leaveOutFormerZones(ctx, tx, j.readBefore); err != nil || w.add.Len() == 0 {
			w.blocks, w.drafts, w.ready, w.counts = w.blocks[:0], w.drafts[:0], nil, wearables.Counts{Unchanged: w.deleted}
			return err
		}
	}
	if slices.Contains(j.exported, w.series.Resource) && w.series.Source.MayBeExported() {
		var err error
		if w.exports, err = w.series.ExportsOf(ctx, tx); err != nil {
			return err
		}
	}
	return w.planBlocks(ctx, tx, j, storage.NewBlockCursor(&w.series, w.add.Time[len(w.add.Time)-1]))
}

// planBlocks merges the new samples into the stored blocks.
func (w *seriesPlan) planBlocks(ctx context.Context, tx *store.Tx, j *job, stored *storage.BlockCursor) error {
	w.blocks, w.drafts, w.ready, w.counts = w.blocks[:0], w.drafts[:0], nil, wearables.Counts{Unchanged: w.deleted}
	w.newTimes = w.newTimes[:0]
	w.before.Reset()
	w.changed.Reset()
	w.former.Reset()
	w.hidden = nil
	ws := workspaces.Get().(*workspace)
	defer ws.free()
	ws.created.Reset()
	ws.updated.Reset()
	if err := w.merge(ctx, tx, j, ws, stored); err != nil {
		return err
	}
	if err := w.planHidden(ctx, tx, j, ws); err != nil {
		return err
	}
	storage.PlainOffsets(ws.created.Offset)
	storage.PlainOffsets(ws.updated.Offset)
	if err := w.draftEvents(j, created, &ws.created); err != nil {
		return err
	}
	return w.draftEvents(j, updated, &ws.updated)
}

// merge merges the new samples block by block.
func (w *seriesPlan) merge(ctx context.Context, tx *store.Tx, j *job, ws *workspace, stored *storage.BlockCursor) error {
	width := w.series.Width.Microseconds()
	for i := 0; i < len(w.add.Time); {
		bucket := w.series.Bucket(w.add.Time[i])
		end := i + 1
		for end < len(w.add.Time) && w.add.Time[end]-bucket < width {
			end++
		}
		add := w.add.Slice(i, end)
		i = end

		ws.old.Reset()
		ws.merged.Reset()
		ws.changes.Reset()
		rev := int64(0)
		old, err := stored.Find(ctx, tx, bucket)
		if err != nil {
			return err
		}
		if old != nil {
			rev = old.Rev
			if err := old.Open(ctx, tx, &w.series, &ws.old); err != nil {
				return err
			}
			if !j.restores {
				left, n, err := old.LeaveOutDeleted(ctx, tx, &w.series, &add, j.idsOf(w.key))
				if err != nil {
					return err
				}
				w.counts.Unchanged += n
				if add = left; add.Len() == 0 {
					continue
				}
			}
		}
		if err := w.mergeBlock(ctx, tx, ws, &add, bucket, rev, j); err != nil {
			return err
		}
	}
	return nil
}

func (w *seriesPlan) mergeBlock(ctx context.Context, tx *store.Tx, ws *workspace, add *blocks.Columns, bucket, rev int64, j *job) error {
	ch := &ws.changes
	if w.hasUnsure {
		keepStoredOffsets(&ws.old, add)
	}
	blocks.Merge(&ws.merged, &ws.old, add, ch)
	if err := w.countReturning(ctx, tx, ws, add, j); err != nil {
		return err
	}
	confirmed, err := w.confirm(ctx, tx, ws, add, j)
	if err != nil {
		return err
	}
	isNew := len(ch.Created)+len(ch.Updated) > 0
	lag, changed := storage.MarkWritten(&ws.merged, j.planned)
	w.counts.Add(wearables.Counts{Created: len(ch.Created), Updated: len(ch.Updated), Unchanged: ch.Unchanged})
	if !isNew && !confirmed {
		return nil
	}
	if j.importID != uuid.Nil {
		w.record(&ws.old, &ws.merged, ch)
	}
	if len(w.exports) > 0 {
		w.keepChanged(ws)
	}
	if j.announces { // as stored: a corrected sample keeps fields that the correction leaves out
		appendRows(&ws.created, &ws.merged, ch.Created)
		appendRows(&ws.updated, &ws.merged, ch.Updated)
	}
	n := ws.merged.Len()
	if n > blocks.MaxSamples {
		return errBlockTooLarge
	}
	if !isNew {
		changed = slices.Max(ws.merged.Written) * 1000
	}
	if ws.packed, err = blocks.Append(ws.packed[:0], &ws.merged); err != nil {
		return fmt.Errorf("ingest: packing a block: %w", err)
	}
	w.blocks = append(w.blocks, storage.BlockVersion{
		Bucket: bucket, Rev: rev + 1, N: n, First: ws.merged.Time[0], Last: ws.merged.Time[n-1],
		Packed: slices.Clone(ws.packed), Lag: lag, Changed: changed,
	})
	return nil
}

// countReturning counts unchanged samples of a push as updated if they count again: see
// returning. A reprocessed body changes nothing by its order.
func (w *seriesPlan) countReturning(ctx context.Context, tx *store.Tx, ws *workspace, add *blocks.Columns, j *job) error {
	ch := &ws.changes
	if ch.Unchanged == 0 || !w.resource.HasVersions() || !j.pushed || j.in.reprocess {
		return nil
	}
	times, err := w.returning(ctx, tx, &ws.old, add)
	for _, at := range times {
		k, _ := slices.BinarySearch(add.Time, at)
		place, _ := slices.BinarySearch(ws.merged.Time, at)
		_, isNew := slices.BinarySearch(ch.Created, int32(place))
		if at, known := slices.BinarySearch(ch.Updated, int32(place)); !known && !isNew {
			ch.Updated = slices.Insert(ch.Updated, at, int32(place))
			ch.Unchanged--
			ws.merged.Written[place] = placeAt(add, k)
		}
	}
	return err
}

// appendRows appends the samples at the positions to dst, runs of neighbours at once.
func appendRows(dst, from *blocks.Columns, at []int32) {
	for i := 0; i < len(at); {
		j := i + 1
		for j < len(at) && at[j] == at[j-1]+1 {
			j++
		}
		run := from.Slice(int(at[i]), int(at[j-1])+1)
		dst.Append(&run)
		i = j
	}
}

// write stores the plan, or returns ErrStale.
func (w *seriesPlan) write(ctx context.Context, tx *store.Tx, j *job) (storage.Series, error) {
	s := w.series
	if s.ID == 0 {
		made, err := storage.CreateSeries(ctx, tx, j.team, j.user, w.key, s.Width)
		if err != nil {
			return s, err
		}
		s = made
		tx.AfterCommit(func() { j.in.series.put(made, w.key) })
	}
	for i := range w.blocks {
		if err := w.blocks[i].Write(ctx, tx, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// denseStep is the mean step below which a series gets narrow blocks.
const denseStep = 10 * time.Second

// widthFor returns the block width of a new series, by its first samples.
func widthFor(r *wearables.Resource, c *blocks.Columns) time.Duration {
	n := c.Len()
	if n >= 60 && time.Duration(c.Time[n-1]-c.Time[0])*time.Microsecond/time.Duration(n-1) < denseStep {
		return min(r.Width, time.Hour)
	}
	return r.Width
}

// maxCachedSeries bounds the cache; an entry takes about 400 bytes.
const maxCachedSeries = 200_000

// seriesCache holds series by user and key. It is emptied when full. Series are
// never renamed or renumbered, so an entry stays valid.
type seriesCache struct {
	mu    sync.RWMutex
	known map[userSeries]storage.Series
}

type userSeries struct {
	user uuid.UUID
	storage.SeriesKey
}

func (c *seriesCache) get(user uuid.UUID, key storage.SeriesKey) (storage.Series, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s, ok := c.known[userSeries{user, key}]
	return s, ok
}

func (c *seriesCache) put(s storage.Series, key storage.SeriesKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCachedSeries {
		c.known = map[userSeries]storage.Series{}
	}
	c.known[userSeries{s.User, key}] = s
}

// Reads hide a sample of an Apple Health export if the phone has pushed the same sample:
// see storage. Events agree with reads. No event announces a hidden sample. A push that
// hides stored samples, or shows them again, emits a deletion event for their range. A
// client that keeps a copy then reads the range again.

// keepChanged keeps the changed samples of a block.
func (w *seriesPlan) keepChanged(ws *workspace) {
	appendRows(&w.changed, &ws.merged, ws.changes.Created)
	appendRows(&w.changed, &ws.merged, ws.changes.Updated)
	appendFormer(&w.former, &ws.old, &ws.merged, ws.changes.Updated)
}

// planHidden removes samples that reads leave out from those that events announce, or
// plans the event about samples that the batch hides.
func (w *seriesPlan) planHidden(ctx context.Context, tx *store.Tx, j *job, ws *workspace) error {
	if w.series.Source.IsAppleExport() {
		for _, c := range []*blocks.Columns{&ws.created, &ws.updated} {
			if err := w.series.WithoutPushed(ctx, tx, c); err != nil {
				return err
			}
		}
		return nil
	}
	if w.changed.Len() == 0 {
		return nil
	}
	changed, _ := blocks.Sort(w.changed)
	var hidden storage.HiddenSamples
	for i := range w.exports {
		if err := hidden.Add(ctx, tx, &w.exports[i], &w.series, &w.former, &changed); err != nil {
			return err
		}
	}
	if hidden.N == 0 {
		return nil
	}
	data := storage.DeletedData{
		User: j.user, Resource: wearables.EventName(w.resource.Name), Deleted: hidden.N, Oldest: hidden.First, Newest: hidden.Last, Providers: []string{w.key.Provider},
	}
	w.hidden = append(w.hidden, j.event(data.EventType(), data.AppendTo(nil, j.logos())))
	return nil
}

// draft is an event about samples of a series that has no number yet.
type draft struct {
	rank  int64
	event string // full event type
	data  []byte // JSON array of samples
}

// draft appends the events about some samples of a series, each no larger than
// events.MaxBody.
//
// Spec: Events, timeseries. Reference 8.3.
func (j *job) draft(drafts []draft, w *seriesPlan, verb string, rank int64, c *blocks.Columns) []draft {
	if c.Len() == 0 {
		return drafts
	}
	event := resources.DailyEvent(w.resource.Event, verb)
	room := 0 // for the data; computed when needed
	writer := wearables.NewSampleWriter(w.samples(c))
	data := make([]byte, 0, min(events.MaxBody, 2+c.Len()*160))
	data = append(data, '[')
	for i := range c.Time {
		before := len(data)
		if before > 1 {
			data = append(data, ',')
		}
		data = writer.Append(data, i)
		if room == 0 && len(data) > alwaysFits {
			room = events.Room(j.event(event, nil)) - len(j.samplesPayload(nil, &w.series, widestID, nil))
		}
		if room > 0 && len(data)+1 > room && before > 1 {
			whole := append(data[:before:before], ']')
			rest := data[before+1:]
			drafts = append(drafts, draft{rank, event, whole})
			data = append(append(make([]byte, 0, room), '['), rest...)
		}
	}
	return append(drafts, draft{rank, event, append(data, ']')})
}

// alwaysFits is a size of data that fits into any event.
const alwaysFits = events.MaxBody / 4

// widestID is a series number with as many digits as one can have.
const widestID = 1 << 53

func (j *job) samplesPayload(dst []byte, s *storage.Series, id int64, data []byte) []byte {
	return append(append(j.samplesHead(dst, s, id), data...), '}')
}

// samplesHead appends the part of a payload before its samples.
func (j *job) samplesHead(dst []byte, s *storage.Series, id int64) []byte {
	dst = wearables.AppendUUID(append(dst, `{"user_id":`...), j.user)
	dst = strconv.AppendInt(append(dst, `,"source_id":`...), id, 10)
	dst = wearables.AppendSource(append(dst, `,"source":`...), s.Source, j.logos())
	return append(dst, `,"data":`...)
}

func (j *job) event(kind string, data []byte) events.New {
	return events.New{Team: j.team, User: j.user, ClientUserID: j.clientUserID, Type: kind, Data: data}
}

// draftEvents makes the events about some samples of a series, outside the writer.
// A series without a number gets drafts.
func (w *seriesPlan) draftEvents(j *job, verb string, all *blocks.Columns) error {
	if all.Len() == 0 {
		return nil
	}
	return w.eachRank(all, func(rank int64, c *blocks.Columns) error {
		if w.series.ID == 0 {
			w.drafts = j.draft(w.drafts, w, verb, rank, c)
			return nil
		}
		return w.makeReady(j, verb, rank, c)
	})
}

// makeReady makes complete events about some samples of one rank.
func (w *seriesPlan) makeReady(j *job, verb string, rank int64, c *blocks.Columns) error {
	event := j.event(resources.DailyEvent(w.resource.Event, verb), nil)
	if c.Len() < fewRows {
		err := event.ReadyWith(512+160*c.Len(), func(dst []byte) []byte {
			dst = wearables.AppendAll(j.samplesHead(dst, &w.series, w.series.ID), []wearables.Samples{*w.samples(c)})
			return append(dst, '}')
		})
		w.ready = append(w.ready, rankedEvent{rank, event})
		return err
	}
	for rest := *c; rest.Len() > 0; {
		n, err := event.ReadyRows(w.payload(j, &rest))
		if err != nil {
			return err
		}
		w.ready = append(w.ready, rankedEvent{rank, event})
		rest = rest.Slice(n, rest.Len())
	}
	return nil
}

// fewRows is a number of rows that fits into any event and is faster to write
// without a row template.
const fewRows = 16

// samples returns columns as samples of the series.
func (w *seriesPlan) samples(c *blocks.Columns) *wearables.Samples {
	return &wearables.Samples{
		Resource: w.resource.Name, Type: w.key.Type, Extra: w.key.Extra, Source: w.series.Source,
		Time: c.Time, End: c.End, Offset: c.Offset, Value: c.Value, Value2: c.Value2,
	}
}

// payload returns the payload of an event about samples, as rows.
func (w *seriesPlan) payload(j *job, c *blocks.Columns) rows.Table {
	t := wearables.SampleRows(w.samples(c))
	around := j.samplesPayload(nil, &w.series, w.series.ID, []byte("[]"))
	at := len(around) - len("]}")
	t.Head, t.Tail = append(around[:at:at], t.Head...), append(t.Tail, around[at:]...)
	return t
}

// events returns the events of a series that was just written.
func (w *seriesPlan) events(j *job, s *storage.Series) []rankedEvent {
	own := w.ready
	if own == nil {
		own = w.complete(j, s)
	}
	if len(w.hidden) == 0 {
		return own
	}
	var all []rankedEvent
	for _, e := range w.hidden {
		all = append(all, rankedEvent{math.MinInt64, e})
	}
	return append(all, own...)
}

// complete adds the number of the series to the drafts.
func (w *seriesPlan) complete(j *job, s *storage.Series) []rankedEvent {
	all := make([]rankedEvent, len(w.drafts))
	for i, d := range w.drafts {
		payload := make([]byte, 0, len(d.data)+512)
		all[i] = rankedEvent{d.rank, j.event(d.event, j.samplesPayload(payload, s, s.ID, d.data))}
	}
	return all
}
