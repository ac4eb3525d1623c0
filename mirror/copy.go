package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"hale/internal/wearables/resources"
)

// replica is a team's data, built from events. Events may come in any order and more than
// once. Each value has the number of the event that it is from. A smaller number never
// replaces a greater one.
type replica struct {
	mu       sync.Mutex
	seen     map[int64]bool
	values   map[string]map[string]value // by kind and key
	samples  map[string]map[string]value // by key without words, and words
	pulls    []pull                      // histories, and ranges in which data was deleted, to read
	restored []string                    // users to read, if the copy began while they were deleted
	toRead   []announcement              // what events announced without its content
	deleted  []deletion
	types    map[string]int

	reads bool // what events announce without its content is copied too
}

// deletion is a deletion of samples. It hides values of earlier events, which may come
// after it.
type deletion struct {
	seq            int64
	user, resource string
	providers      []string
	start, end     time.Time
}

// hides reports whether the deletion removed a sample.
func (d deletion) hides(v value) bool {
	return v.seq < d.seq && slices.Contains(d.providers, v.provider) && !v.at.Before(d.start) && !v.at.After(d.end)
}

// value is a document; nil after a deletion.
type value struct {
	seq      int64
	doc      any
	provider string    // of a sample
	at       time.Time // of a sample
}

// pull is a range of a user's resource to read: a history that is complete, or the range
// of a deletion.
type pull struct {
	user, resource string
	start, end     string // dates
}

// Dates before and after all data.
const firstDay, lastDay = "2020-01-01", "2100-01-01"

func newReplica() *replica {
	return &replica{seen: map[int64]bool{}, values: map[string]map[string]value{}, samples: map[string]map[string]value{}, types: map[string]int{}}
}

// take applies one event.
func (r *replica) take(seq int64, envelope object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind, data := textField(envelope, "event_type"), field(envelope, "data")
	r.seen[seq] = true
	r.types[kind]++
	doc, _ := data.(object)
	if doc == nil {
		return
	}
	switch {
	case kind == "user.deleted":
		r.set("user", textField(doc, "user_id"), seq, nil)
	case strings.HasPrefix(kind, "user."):
		r.set("user", textField(doc, "user_id"), seq, doc)
		if kind == "user.restored" {
			r.restored = append(r.restored, textField(doc, "user_id"))
		}
	case kind == "provider.connection.deleted":
		r.set("connection", connectionKey(doc), seq, nil)
	case kind == "provider.connection.created" || kind == "provider.connection.updated":
		r.set("connection", connectionKey(doc), seq, doc)
	case kind == "provider.device.created" || kind == "provider.device.updated":
		r.set("device", textField(doc, "id"), seq, doc)
	case kind == "labtest.order.created" || kind == "labtest.order.updated":
		r.takeOrder(seq, doc)
	case kind == "labtest.appointment.created" || kind == "labtest.appointment.updated":
		r.set("appointment", textField(doc, "id"), seq, doc)
	case strings.HasPrefix(kind, "historical.data."):
		r.pulls = append(r.pulls, pull{textField(doc, "user_id"), part(kind, 2), firstDay, lastDay})
	case strings.HasPrefix(kind, "labtest.match_review."):
		r.set("review", textField(doc, "id"), seq, doc)
	case strings.HasPrefix(kind, "daily.data.workout_stream."):
		r.announceStreams(doc)
	case strings.HasPrefix(kind, "daily.data.") && strings.HasSuffix(kind, ".deleted"):
		r.takeDeletion(seq, part(kind, 2), doc)
	case strings.HasPrefix(kind, "daily.data."):
		r.takeData(seq, part(kind, 2), doc)
	}
}

// takeOrder keeps an order apart from its transaction: events of the other orders of the
// transaction have a newer one.
func (r *replica) takeOrder(seq int64, doc object) {
	order := maps.Clone(doc)
	delete(order, "order_transaction")
	r.set("order", textField(doc, "id"), seq, order)
	r.toRead = append(r.toRead, announcement{resultOf, textField(doc, "id")})
	r.set("transaction", textField(doc, "order_transaction", "id"), seq, doc["order_transaction"])
}

// takeDeletion removes summaries by their ids, and samples of a range. Samples of other
// sources, which the range may have too, are read again.
func (r *replica) takeDeletion(seq int64, resource string, doc object) {
	user := textField(doc, "user_id")
	ids, _ := doc["ids"].([]any)
	for _, id := range ids {
		r.set("summary", fmt.Sprint(resource, " ", user, " ", id), seq, nil)
	}
	d := deletion{seq: seq, user: user, resource: resource, start: timeField(doc, "start_date"), end: timeField(doc, "end_date")}
	providers, _ := doc["providers"].([]any)
	for _, p := range providers {
		d.providers = append(d.providers, fmt.Sprint(p))
	}
	r.deleted = append(r.deleted, d)
	r.pulls = append(r.pulls, pull{user, resource, d.start.Format(time.DateOnly), d.end.Format(time.DateOnly)})
}

func (r *replica) takeData(seq int64, resource string, doc object) {
	if _, samples := doc["data"].([]any); !samples {
		r.set("summary", resource+" "+textField(doc, "user_id")+" "+textField(doc, "id"), seq, doc)
		return
	}
	source, _ := doc["source"].(object)
	for _, sample := range listField(doc, "data") {
		r.setSample(seq, textField(doc, "user_id"), resource, source, sample)
	}
}

func (r *replica) setSample(seq int64, user, resource string, source, sample object) {
	key, words := sampleKey(user, resource, source, sample)
	if r.samples[key] == nil {
		r.samples[key] = map[string]value{}
	}
	if seq >= r.samples[key][words].seq {
		r.samples[key][words] = value{seq, sample, textField(source, "provider"), timeField(sample, "timestamp")}
	}
}

func (r *replica) set(kind, key string, seq int64, doc any) {
	if r.values[kind] == nil {
		r.values[kind] = map[string]value{}
	}
	if was, known := r.values[kind][key]; !known || seq >= was.seq {
		r.values[kind][key] = value{seq: seq, doc: doc}
	}
}

// visible returns the samples that reads have. Of a sample with words and one without,
// the later one counts.
func (r *replica) visible(user, resource string) map[string]any {
	all := map[string]any{}
	for key, byWords := range r.samples {
		if !strings.HasPrefix(key, user+" "+resource+" ") {
			continue
		}
		byWords = r.withoutDeleted(user, resource, byWords)
		plain, hasPlain := byWords[""]
		for words, v := range byWords {
			switch {
			case words == "":
				for other, worded := range byWords {
					hasPlain = hasPlain && (other == "" || worded.seq < plain.seq)
				}
				if hasPlain {
					all[key] = v.doc
				}
			case plain.seq < v.seq:
				all[key+" "+words] = v.doc
			}
		}
	}
	return all
}

// withoutDeleted returns the values that no later event deleted.
func (r *replica) withoutDeleted(user, resource string, all map[string]value) map[string]value {
	kept := maps.Clone(all)
	maps.DeleteFunc(kept, func(_ string, v value) bool {
		return slices.ContainsFunc(r.deleted, func(d deletion) bool {
			return d.user == user && d.resource == resource && d.hides(v)
		})
	})
	return kept
}

// timeField reads a field with a time; zero if there is none.
func timeField(doc object, name string) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, textField(doc, name))
	return at
}

func connectionKey(doc object) string {
	return textField(doc, "user_id") + " " + textField(doc, "provider", "slug")
}

// wordFields lists the fields that separate samples of one time, beside the source.
var wordFields = []string{"sensor_location", "delivery_mode", "delivery_form", "bolus_purpose", "intensity"}

// sampleKey returns the key of a sample, and its words. The type is part of the key, unless
// it is an attribute of one measurement. The type of hrv is a word.
func sampleKey(user, resource string, source, sample object) (key, words string) {
	of := object{}
	for _, name := range []string{"provider", "type", "app_id", "device_id", "sport", "workout_id"} {
		of[name] = source[name]
	}
	for _, name := range wordFields {
		if word, _ := sample[name].(string); word != "" {
			words += name + "=" + word + " "
		}
	}
	kind := textOf(sample["type"])
	switch r, _ := resources.Find(resource); {
	case r != nil && r.OneType:
		kind = ""
	case r != nil && r.LateType:
		if kind = ""; textField(sample, "type") != "" {
			words += "type=" + textField(sample, "type") + " "
		}
	}
	return strings.Join([]string{user, resource, textOf(of), kind, textField(sample, "timestamp")}, " "), words
}

func part(kind string, n int) string { return strings.Split(kind, ".")[n] }
