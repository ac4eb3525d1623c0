package situations

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/oura"
)

// Any history of a person's data gives the same reads as one clean import of its final
// state.

// record is a record of a phone or of a provider, with its versions.
type record struct {
	resource string   // of the push, or of the maker's reply
	reply    bool     // imported, not pushed
	id       string   // the provider's own; empty for none
	versions []string // JSON, in the order in which they are sent
	reported bool     // deletions: the phone reports its id
	deleted  bool     // in the end

	sent   int // versions
	isGone bool
}

// minuteText returns the time that is some minutes after the start of 2026-03-02 UTC.
// Reads cover the days from then on, and summaries of them are derived.
func minuteText(minute int) string {
	return time.Date(2026, 3, 2, 0, minute, 0, 0, time.UTC).Format(time.RFC3339)
}

// drawRecord draws the record of a slot. Slots do not overlap, so that two records never
// match each other.
func drawRecord(rt *rapid.T, slot int) *record {
	kind := rapid.SampledFrom([]string{"steps", "heartrate", "workouts", "meal", "sleep", "reply sleep", "reply workout"}).Draw(rt, "kind")
	r := &record{resource: strings.TrimPrefix(kind, "reply "), reply: strings.HasPrefix(kind, "reply ")}
	if r.reply || rapid.Bool().Draw(rt, "has an id") {
		r.id = fmt.Sprint("id", slot)
	}
	start := 600 * slot // ten hours each
	n := rapid.IntRange(1, 3).Draw(rt, "versions")
	for v := range n {
		moved := start
		if r.id != "" && r.resource != "heartrate" { // only a record with an id may start later
			moved += rapid.IntRange(0, 20).Draw(rt, "moved")
		}
		value := 100*(v+1) + rapid.IntRange(0, 40).Draw(rt, "value")
		r.versions = append(r.versions, r.version(moved, value))
	}
	r.deleted = rapid.IntRange(0, 3).Draw(rt, "deleted") == 0
	r.reported = r.id != "" && !r.reply && rapid.Bool().Draw(rt, "reported")
	return r
}

// version returns the JSON of a version.
func (r *record) version(start, value int) string {
	id := ""
	if r.id != "" {
		id = fmt.Sprintf(`"metadata":{"id":%q},`, r.id)
	}
	if r.reply {
		id = fmt.Sprintf(`"id":%q,`, r.id)
	}
	long := start + 120 + value%7
	switch {
	case r.reply && r.resource == "sleep":
		return fmt.Sprintf(`{%s"day":%q,"bedtime_start":%q,"bedtime_end":%q,"total_sleep_duration":%d,"sleep_phase_5_min":"2222","type":"sleep"}`,
			id, minuteText(long)[:10], minuteText(start), minuteText(long), 60*value/10)
	case r.reply:
		return fmt.Sprintf(`{%s"activity":"running","calories":%d,"day":%q,"distance":%d,"start_datetime":%q,"end_datetime":%q,"intensity":"hard","source":"confirmed"}`,
			id, value, minuteText(start)[:10], 10*value, minuteText(start), minuteText(long))
	case r.resource == "steps":
		return fmt.Sprintf(`{%s"timestamp":%q,"end":%q,"value":%d,"source_app_id":"a"}`, id, minuteText(start), minuteText(start+10), value)
	case r.resource == "heartrate":
		return fmt.Sprintf(`{%s"timestamp":%q,"value":%d,"source_app_id":"a"}`, id, minuteText(start), 50+value%100)
	case r.resource == "workouts":
		return fmt.Sprintf(`{%s"time_start":%q,"time_end":%q,"distance":%d}`, id, minuteText(start), minuteText(long), 10*value)
	case r.resource == "meal":
		return fmt.Sprintf(`{%s"timestamp":%q,"name":"meal","energy":{"unit":"kcal","value":%d}}`, id, minuteText(start), value)
	}
	return fmt.Sprintf(`{%s"bedtime_start":%q,"bedtime_stop":%q,"total":%d}`, id, minuteText(start), minuteText(long), 60*value/10)
}

// send sends a version as a push or a file.
func (r *record) send(b *bed, version string) {
	switch {
	case r.reply:
		b.imports(oura.Kind, "reply.json", []byte(`{"data":[`+version+`]}`))
	case r.resource == "steps" || r.resource == "heartrate":
		push(r.resource, android, "UTC", version)(b)
	default:
		pushSummaries(r.resource, android, "UTC", version)(b)
	}
}

// slotBounds returns a range that contains all versions of the record of a slot.
func slotBounds(slot int) (from, to string) {
	return minuteText(600 * slot), minuteText(600*slot + 599)
}

// remove deletes the record: the phone reports its id, or the team deletes its time.
func (r *record) remove(b *bed, slot int) {
	path, name := "/v2/summary/"+r.resource+"/*", r.resource
	if r.resource == "steps" || r.resource == "heartrate" {
		path = "/v2/timeseries/*/" + r.resource
	}
	if r.reported {
		b.want("POST", path, fmt.Sprintf(`{"stage":"daily","provider":%q,"deleted":[{"id":%q}]}`, android, r.id))
		return
	}
	provider := android
	if r.reply {
		provider = "oura"
		if r.resource == "workout" {
			name = "workouts"
		}
	}
	from, to := slotBounds(slot)
	b.want("DELETE", "/v2/user/*/data?provider="+provider+"&resource="+name+"&start="+from+"&end="+to, "")
}

// readings returns the answers of all compared reads, without ids and times of storage.
func readings(b *bed) map[string]string {
	all := map[string]string{}
	for name, path := range map[string]string{
		"steps": "/v2/timeseries/*/steps/grouped?", "steps daily": "/v2/timeseries/*/steps/daily?", "steps merged": "/v2/timeseries/*/steps/merged?",
		"heartrate": "/v2/timeseries/*/heartrate/grouped?", "heartrate daily": "/v2/timeseries/*/heartrate/daily?",
		"sleep": "/v2/summary/sleep/*?", "sleep_cycle": "/v2/summary/sleep_cycle/*?", "merged sleep": "/v2/summary/sleep/*?merged=true&",
		"workouts": "/v2/summary/workouts/*?", "meal": "/v2/summary/meal/*?", "activity": "/v2/summary/activity/*?",
	} {
		var page any
		b.decode(b.want("GET", path+span, ""), &page)
		text, _ := json.Marshal(withoutIDs(page)) // it was JSON
		all[name] = string(text)
	}
	for name, q := range map[string]truth{"queried steps": queriedDays("steps"), "queried nights": queriedNights(), "queried workouts": queriedWorkouts()} {
		text, _ := json.Marshal(q.read(b))
		all[name] = string(text)
	}
	return all
}

// withoutIDs removes the fields with ids and times of storage. It sorts lists, because
// sources and records of the same time have no defined order.
func withoutIDs(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"id", "user_id", "created_at", "updated_at", "sleep_id", "source_id", "provider_id", "logo"} {
			delete(v, name)
		}
		for name := range v {
			v[name] = withoutIDs(v[name])
		}
	case []any:
		texts := make([]string, len(v))
		for i := range v {
			text, _ := json.Marshal(withoutIDs(v[i]))
			texts[i] = string(text)
		}
		slices.Sort(texts)
		return texts
	}
	return v
}

func TestAnyHistoryReadsAsTheFinalTruth(t *testing.T) {
	storetest.EachAt(t, testClock, func(t *testing.T, db *store.DB) {
		s := newService(t, db)
		rapid.Check(t, func(rt *rapid.T) {
			var all []*record
			for slot := range rapid.IntRange(1, 6).Draw(rt, "records") {
				all = append(all, drawRecord(rt, slot))
			}
			lived, clean := s.bed(t), s.bed(t)
			var history []string
			live(rt, lived, all, &history)
			for _, r := range all {
				if !r.deleted {
					r.send(clean, r.versions[len(r.versions)-1])
				}
			}
			for _, b := range []*bed{lived, clean} {
				runDerive(android)(b)
			}
			got, want := readings(lived), readings(clean)
			for name := range want {
				if got[name] != want[name] {
					rt.Errorf("%s:\n got %s\nwant %s", name, got[name], want[name])
				}
			}
			if rt.Failed() {
				rt.Logf("after\n%s", strings.Join(history, "\n"))
			}
		})
	})
}

// live sends all versions, some of them repeatedly, and deletes records. The order is
// random, but keeps the order of each record's versions.
func live(rt *rapid.T, b *bed, all []*record, history *[]string) {
	note := func(what string, slot int, text string) {
		*history = append(*history, fmt.Sprintf("%s %d %s: %s", what, slot, all[slot].resource, text))
	}
	for left := slices.Clone(all); len(left) > 0; {
		r := rapid.SampledFrom(left).Draw(rt, "next")
		slot := slices.Index(all, r)
		switch {
		case r.sent > 0 && rapid.IntRange(0, 2).Draw(rt, "repeat") == 0:
			note("repeat", slot, r.versions[r.sent-1])
			r.send(b, r.versions[r.sent-1])
		case r.sent < len(r.versions):
			r.send(b, r.versions[r.sent])
			note("send", slot, r.versions[r.sent])
			r.sent++
		case r.deleted && !r.isGone:
			note("delete", slot, r.id)
			r.remove(b, slot)
			r.isGone = true
		default:
			left = slices.DeleteFunc(left, func(o *record) bool { return o == r })
		}
		if rapid.IntRange(0, 9).Draw(rt, "derive") == 0 {
			runDerive(android)(b)
		}
	}
}
