package applehealth

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"hale/internal/platform/civil"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// An export has one record for each day of bleeding and for each entry of the
// diary. It has no record of a cycle. A cycle begins on the day that the phone
// marked as a first one. Where the phone marked none, it begins on a day of
// bleeding after a week without bleeding. A cycle lasts until the day before
// the next one.

// betweenPeriods counts the days without bleeding that end a period.
const betweenPeriods = 7

// maxNoted bounds the diaries of one file: twenty entries a day for 35 years.
const maxNoted = 1 << 18

// diary holds the entries of one source.
type diary struct {
	entries []entry
	warmth  []entry // basalTemperatureRecord temperatures, which are a series as well
}

// entry is one record.
type entry struct {
	list   string
	day    civil.Date
	word   string
	begins bool
	field  *bool   // protection_used
	value  float64 // °C
	count  *files.TypeCount
	record int64 // its number within its type
}

// note keeps an entry until the end of the file.
func (r *Reader) note(p *pendingRecord) bool {
	if r.diaryEntries >= maxNoted {
		return false
	}
	r.diaryEntries++
	d := r.diaryOf(p.source)
	d.entries = append(d.entries, entry{
		list: p.rule.resource, day: localDate(p.start, p.offset), word: p.kind, begins: p.begins, field: p.protected, count: p.count, record: p.count.Read,
	})
	return true
}

// warmth notes a basal temperature for the cycle that its day falls into.
func (r *Reader) warmth(p *pendingRecord) {
	if p.rule.resource != "basal_body_temperature" || r.diaryEntries >= maxNoted {
		return
	}
	r.diaryEntries++
	d := r.diaryOf(p.source)
	d.warmth = append(d.warmth, entry{list: p.rule.resource, day: localDate(p.start, p.offset), value: p.value})
}

func (r *Reader) diaryOf(source int) *diary {
	d := r.diaries[source]
	if d == nil {
		d = &diary{}
		r.diaries[source] = d
	}
	return d
}

// compare orders entries by day, and those of one day in an order that does
// not depend on the file's.
func (e entry) compare(o entry) int {
	return cmp.Or(e.day.Compare(o.day), strings.Compare(e.list, o.list), strings.Compare(e.word, o.word), cmp.Compare(e.value, o.value))
}

// bleeds reports whether an entry is a day of a period.
func (e *entry) bleeds() bool { return e.list == "menstrual_flow" && e.word != "none" }

// cycle is one cycle while it is put together.
type cycle struct {
	start, last civil.Date // of bleeding
	lists       map[string][]map[string]any
}

// cycles converts the diaries to summaries. Entries before the first known period
// belong to no cycle and are counted as unpaired.
func (r *Reader) cycles() ([]wearables.Summary, error) {
	var all []wearables.Summary
	for _, source := range slices.Sorted(maps.Keys(r.diaries)) {
		d := r.diaries[source]
		slices.SortStableFunc(d.entries, entry.compare)
		slices.SortStableFunc(d.warmth, entry.compare)
		found := periods(d.entries)
		for i := range d.entries {
			e := &d.entries[i]
			c := cycleOf(found, e.day)
			if c == nil {
				e.count.Unpaired++
				r.report.LeftAt(e.count, e.record, "unpaired")
				continue
			}
			c.add(e)
			e.count.Mapped++
			r.report.Mapped++
		}
		for i := range d.warmth {
			if c := cycleOf(found, d.warmth[i].day); c != nil {
				c.add(&d.warmth[i])
			}
		}
		for i, c := range found {
			var next civil.Date
			if i+1 < len(found) {
				next = found[i+1].start
			}
			summary, err := c.summary(r.sources.list[source], next)
			if err != nil {
				return nil, err
			}
			all = append(all, summary)
		}
	}
	return all, nil
}

// periods finds the cycles in entries that are sorted by day.
func periods(entries []entry) []*cycle {
	var all []*cycle
	for i := range entries {
		e := &entries[i]
		if !e.bleeds() {
			continue
		}
		var c *cycle
		if len(all) > 0 {
			c = all[len(all)-1]
		}
		if c == nil || e.begins && e.day != c.start || e.day.DaysSince(c.last) > betweenPeriods {
			c = &cycle{start: e.day, lists: map[string][]map[string]any{}}
			all = append(all, c)
		}
		c.last = e.day
	}
	return all
}

// cycleOf returns the last cycle that began on or before a day, or nil if there is none.
func cycleOf(all []*cycle, day civil.Date) *cycle {
	n, _ := slices.BinarySearchFunc(all, day, func(c *cycle, day civil.Date) int {
		if !c.start.After(day) {
			return -1
		}
		return 1
	})
	if n == 0 {
		return nil
	}
	return all[n-1]
}

// add puts an entry into its list, once.
func (c *cycle) add(e *entry) {
	made := map[string]any{"date": e.day.String()}
	if name := wordField[e.list]; name != "" {
		made[name] = e.word
	}
	switch e.list {
	case "sexual_activity":
		made["protection_used"] = nil
		if e.field != nil {
			made["protection_used"] = *e.field
		}
	case "basal_body_temperature":
		made["value"] = e.value
	}
	if !slices.ContainsFunc(c.lists[e.list], func(known map[string]any) bool { return maps.Equal(known, made) }) {
		c.lists[e.list] = append(c.lists[e.list], made)
	}
}

// summary writes the cycle. next is the start of the following one, or zero for the
// last one, whose end is unknown.
//
// Reference 7.5, menstrual_cycle.
func (c *cycle) summary(source wearables.Source, next civil.Date) (wearables.Summary, error) {
	body := map[string]any{"period_start": c.start.String(), "period_end": c.last.String(), "is_predicted": false}
	if !next.IsZero() {
		body["cycle_end"] = next.AddDays(-1).String()
	}
	for list, entries := range c.lists {
		body[list] = entries
	}
	raw, err := json.Marshal(body)
	return wearables.Summary{
		Resource: "menstrual_cycle", Key: c.start.String() + "|" + source.Type + "|" + source.AppID,
		Source: source, Date: c.start, Body: raw,
	}, err
}
