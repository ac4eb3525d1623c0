package storage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/store"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
)

// Notes are a time series whose values are texts. Blocks contain numbers, so each
// note is stored as a sealed document, and read and emitted as a sample. Its key is
// its start and its source, as for every sample.
//
// Reference 7.7, note.

// Note is a text about a time.
type Note struct {
	Source wearables.Source
	id     uuid.UUID
	stored time.Time
	fields struct {
		Timestamp time.Time       `json:"timestamp"`
		End       *time.Time      `json:"end"`
		Offset    *int32          `json:"timezone_offset"`
		Value     string          `json:"value"`
		Tags      json.RawMessage `json:"tags"`
	}
}

// ParseNote reads a stored note.
func ParseNote(s *StoredSummary) (Note, error) {
	n := Note{Source: s.Source, id: s.ID, stored: s.UpdatedAt}
	if err := json.Unmarshal(s.Body, &n.fields); err != nil {
		return n, fmt.Errorf("storage: a note: %w", err)
	}
	return n, nil
}

// append appends the note as a sample.
func (n *Note) append(dst []byte) []byte {
	at := n.fields.Timestamp.UnixMicro()
	end, offset := at, wearables.NoOffset
	if n.fields.End != nil {
		end = n.fields.End.UnixMicro()
	}
	if n.fields.Offset != nil {
		offset = *n.fields.Offset
	}
	dst = wearables.AppendTime(append(dst, `{"timestamp":`...), at)
	dst = wearables.AppendTime(append(dst, `,"start":`...), at)
	dst = wearables.AppendTime(append(dst, `,"end":`...), end)
	dst = wearables.AppendOffset(append(dst, `,"timezone_offset":`...), offset)
	dst = wearables.AppendText(append(dst, `,"type":null,"unit":"text","value":`...), n.fields.Value)
	dst = append(dst, `,"tags":`...)
	if n.fields.Tags == nil {
		return append(dst, "null}"...)
	}
	return append(append(dst, n.fields.Tags...), '}')
}

// ListNotes returns a user's notes that start in a query's range, by source and then
// by time. They have no pages.
func ListNotes(ctx context.Context, tx *store.Tx, team, user uuid.UUID, q SamplesQuery) ([]Note, error) {
	from, to := daysAround(q.From, q.To)
	stored, err := ListSummaries(ctx, tx, team, user, SummaryQuery{Resource: wearables.NoteResource, Provider: q.Provider, From: from, To: to})
	if err != nil {
		return nil, err
	}
	var all []Note
	for i := range stored {
		n, err := ParseNote(&stored[i])
		if err != nil {
			return nil, err
		}
		if at := n.fields.Timestamp.UnixMicro(); at >= q.From && at < q.To {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b Note) int {
		return cmp.Or(compareSources(a.Source, b.Source), a.fields.Timestamp.Compare(b.fields.Timestamp), bytes.Compare(a.id[:], b.id[:]))
	})
	return all, nil
}

// daysAround returns the first and last local day of [from, to) in any zone.
func daysAround(from, to int64) (first, last string) {
	a, b := time.UnixMicro(from).UTC().AddDate(0, 0, -2), time.UnixMicro(to).UTC().AddDate(0, 0, 2)
	if a.Year() > 0 {
		first = a.Format(time.DateOnly)
	}
	if b.Year() < 9999 {
		last = b.Format(time.DateOnly)
	}
	return first, last
}

func compareSources(a, b wearables.Source) int {
	x, y := KeyOfSource(a), KeyOfSource(b)
	return cmp.Or(cmp.Compare(x.Provider, y.Provider), cmp.Compare(x.SourceType, y.SourceType), cmp.Compare(x.AppID, y.AppID),
		bytes.Compare(x.Device[:], y.Device[:]))
}

// AppendNotes appends notes as a JSON array of samples.
func AppendNotes(dst []byte, all []Note) []byte {
	dst = append(dst, '[')
	for i := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = all[i].append(dst)
	}
	return append(dst, ']')
}

// AppendNoteGroups appends an object of providers with groups of notes, one for each
// source.
//
// Reference contract: GroupedNote.
func AppendNoteGroups(dst []byte, all []Note, logos providers.Logos) []byte {
	dst = append(dst, '{')
	for i := 0; i < len(all); {
		switch source := all[i].Source; {
		case i > 0 && source.Provider == all[i-1].Source.Provider:
			dst = append(dst, ',')
		case i > 0:
			dst = append(dst, "],"...)
			fallthrough
		default:
			dst = append(wearables.AppendText(dst, source.Provider), ":["...)
		}
		n := 1
		for i+n < len(all) && all[i+n].Source.Same(all[i].Source) {
			n++
		}
		dst = wearables.AppendSource(append(dst, `{"source":`...), all[i].Source, logos)
		dst = append(AppendNotes(append(dst, `,"data":`...), all[i:i+n]), '}')
		i += n
	}
	if len(all) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// AppendPlainNotes appends notes of all sources in order of time. Of several notes of one
// key, it has the one that was stored last, as LatestSamples.
func AppendPlainNotes(dst []byte, all []Note) []byte {
	latest := map[noteKey]*Note{}
	for i := range all {
		n := &all[i]
		if other := latest[n.key()]; other == nil || n.stored.After(other.stored) {
			latest[n.key()] = n
		}
	}
	inTime := slices.DeleteFunc(slices.Clone(all), func(n Note) bool { return latest[n.key()].id != n.id })
	slices.SortStableFunc(inTime, func(a, b Note) int { return a.fields.Timestamp.Compare(b.fields.Timestamp) })
	return AppendNotes(dst, inTime)
}

// noteKey is the key of a note, as the specification has it for samples.
type noteKey struct {
	provider, sourceType string
	at                   int64
}

func (n *Note) key() noteKey {
	key := KeyOfSource(n.Source)
	return noteKey{key.Provider, key.SourceType, n.fields.Timestamp.UnixMicro()}
}
