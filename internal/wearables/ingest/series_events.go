package ingest

import (
	"slices"
	"strconv"

	"hale/internal/platform/blocks"
	"hale/internal/platform/events"
	"hale/internal/platform/rows"
	"hale/internal/wearables"
	"hale/internal/wearables/storage"
)

// draft is an event about samples of a series that has no number yet.
type draft struct {
	event string // full event type
	data  []byte // JSON array of samples
}

// draft appends the events about some samples of a series, each no larger than
// events.MaxBody.
//
// Spec: Events, timeseries. Reference 8.3.
func (j *job) draft(drafts []draft, w *seriesPlan, verb string, c *blocks.Columns) []draft {
	if c.Len() == 0 {
		return drafts
	}
	event := "daily.data." + w.resource.Event + "." + verb
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
			drafts = append(drafts, draft{event, whole})
			data = append(append(make([]byte, 0, room), '['), rest...)
		}
	}
	return append(drafts, draft{event, append(data, ']')})
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
func (w *seriesPlan) draftEvents(j *job, verb string, c *blocks.Columns) error {
	if w.series.ID == 0 {
		w.drafts = j.draft(w.drafts, w, verb, c)
		return nil
	}
	if c.Len() == 0 {
		return nil
	}
	event := j.event("daily.data."+w.resource.Event+"."+verb, nil)
	if c.Len() < fewRows {
		err := event.ReadyWith(512+160*c.Len(), func(dst []byte) []byte {
			dst = wearables.AppendAll(j.samplesHead(dst, &w.series, w.series.ID), []wearables.Samples{*w.samples(c)})
			return append(dst, '}')
		})
		w.ready = append(w.ready, event)
		return err
	}
	for rest := *c; rest.Len() > 0; {
		n, err := event.ReadyRows(w.payload(j, &rest))
		if err != nil {
			return err
		}
		w.ready = append(w.ready, event)
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
func (w *seriesPlan) events(j *job, s *storage.Series) []events.New {
	own := w.ready
	if own == nil {
		own = w.complete(j, s)
	}
	if len(w.hidden) == 0 {
		return own
	}
	return append(slices.Clone(w.hidden), own...)
}

// complete adds the number of the series to the drafts.
func (w *seriesPlan) complete(j *job, s *storage.Series) []events.New {
	all := make([]events.New, len(w.drafts))
	for i, d := range w.drafts {
		payload := make([]byte, 0, len(d.data)+512)
		all[i] = j.event(d.event, j.samplesPayload(payload, s, s.ID, d.data))
	}
	return all
}
