package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// recordIDs is the number of ids that the records of a kind have, for each person and phone.
// They are few, so that records are sent again, move and are deleted.
const recordIDs = 12

func recordID(kind string, r *rand.Rand) string { return fmt.Sprint(kind, "-", r.IntN(recordIDs)) }

// pushRecords pushes samples with ids. A known id moves its sample to another time.
func (w *world) pushRecords(ctx context.Context, r *rand.Rand) (int, error) {
	k, day := pick(r, kinds), time.Now().UTC().AddDate(0, 0, -1)
	data := w.samples(r, k, day)
	taken := map[string]bool{}
	for _, sample := range data {
		if id := recordID(k.name, r); !taken[id] {
			taken[id] = true
			sample["id"] = id
		}
	}
	body := object{"stage": "daily", "provider": pick(r, phones), "data": data}
	if r.IntN(4) == 0 {
		body["deleted"] = []object{{"id": recordID(k.name, r)}}
	}
	status, _, err := w.send(ctx, http.MethodPost, "/v2/timeseries/"+w.user(r)+"/"+k.name, keyOf(r), body)
	return status, err
}

// deleteRecords reports deleted samples by their ids, of one kind or of all.
func (w *world) deleteRecords(ctx context.Context, r *rand.Rand) (int, error) {
	path := "/v2/timeseries/" + w.user(r)
	k := pick(r, kinds)
	if r.IntN(2) == 0 {
		path += "/" + k.name
	}
	body := object{"stage": "daily", "provider": pick(r, phones), "deleted": []object{{"id": recordID(k.name, r)}, {"id": recordID(k.name, r)}}}
	status, _, err := w.send(ctx, http.MethodPost, path, keyOf(r), body)
	return status, err
}

// pushSession pushes a sleep or a workout with an id: first, again with other times, or
// as deleted.
func (w *world) pushSession(ctx context.Context, r *rand.Rand) (int, error) {
	resource := pick(r, []string{"sleep", "workouts"})
	id := object{"id": recordID(resource, r)}
	body := object{"stage": "daily", "provider": pick(r, phones)}
	if r.IntN(5) == 0 {
		body["deleted"] = []object{id}
	} else {
		from := time.Now().UTC().AddDate(0, 0, -1-r.IntN(3)).Truncate(24 * time.Hour).Add(time.Duration(r.IntN(20)) * time.Hour)
		to := from.Add(time.Duration(30+r.IntN(60)) * time.Minute)
		one := object{"id": id["id"], "source_type": pick(r, []string{"watch", "phone"})}
		if resource == "sleep" {
			one["bedtime_start"], one["bedtime_stop"] = from.Format(time.RFC3339), to.Format(time.RFC3339)
		} else {
			one["time_start"], one["time_end"], one["calories"] = from.Format(time.RFC3339), to.Format(time.RFC3339), r.IntN(500)
		}
		body["data"] = []object{one}
	}
	status, _, err := w.send(ctx, http.MethodPost, "/v2/summary/"+resource+"/"+w.user(r), keyOf(r), body)
	return status, err
}
