package healthconnect

import (
	"encoding/json"

	"hale/internal/wearables/formats/replies"
)

// series adds a record with its samples, or a single sample, as HC Webhook sends it.
func (r *reader) series(one recordForm, w *writtenRecord) error {
	m := one.form.many
	if one.flat {
		row, err := r.stage.samplesOf(one.form, w)
		if err != nil {
			return err
		}
		return r.stage.insert(m.table, row, w.start, m.readFlat(one.values))
	}
	row, err := r.add(one.form, w, one.form.values(one.values)...)
	if err != nil || row == 0 {
		return err
	}
	for _, sample := range one.values.Documents(m.list) {
		if err := r.stage.insert(m.table, row, millis(sample.Text("time")), m.read(sample)); err != nil {
			return err
		}
	}
	return nil
}

// bounds returns the start and the end of a stage. The names of the fields have two
// spellings.
func bounds(d replies.Document) (start, end any) {
	if d.Has("start_time") {
		return millis(d.Text("start_time")), millis(d.Text("end_time"))
	}
	return millis(d.Text("startTime")), millis(d.Text("endTime"))
}

// sleep adds a night with its stages.
func (r *reader) sleep(one recordForm, w *writtenRecord) error {
	stages := one.values.Documents("stages")
	if one.flat {
		w.start = exactStart(w.start, stages)
	}
	row, err := r.add(one.form, w)
	if err != nil || row == 0 {
		return err
	}
	for _, stage := range stages {
		start, end := bounds(stage)
		if err := r.stage.insert(stagesTable, row, start, end, code(stage.Raw("stage"))); err != nil {
			return err
		}
	}
	return nil
}

// exactStart returns the start of a session with milliseconds. The given start was
// computed from the end and a duration in whole seconds; the first stage has the exact
// time.
func exactStart(start any, stages []replies.Document) any {
	at, ok := start.(int64)
	if !ok || len(stages) == 0 {
		return start
	}
	first, _ := bounds(stages[0])
	if exact, ok := first.(int64); ok && exact > at-1000 && exact < at {
		return exact
	}
	return start
}

// code returns a number, or the number that a text holds. It returns "" for other values.
func code(raw json.RawMessage) any {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		raw = json.RawMessage(s)
	}
	if v, ok := replies.NumberOf(raw); ok {
		return v
	}
	return ""
}

// exercise adds a workout with its route.
func (r *reader) exercise(one recordForm, w *writtenRecord) error {
	kind := one.values.Raw("exerciseType")
	if one.flat {
		kind = one.values.Raw("type")
	}
	row, err := r.add(one.form, w, platformExercise(code(kind)), one.values.Text("title"))
	if err != nil || row == 0 {
		return err
	}
	for _, at := range one.values.Inner("exerciseRoute").Documents("route") {
		lat, _ := at.Number("latitude")
		lng, here := at.Number("longitude")
		if !here || !at.States("latitude") {
			continue
		}
		// An unknown height is written as 0 in every unit.
		var altitude any
		if height, ok := metre.read(at.Raw("altitude")); ok && height != 0 {
			altitude = height
		}
		if err := r.stage.insert(routeTable, row, millis(at.Text("time")), lat, lng, altitude); err != nil {
			return err
		}
	}
	return nil
}

// clientExercises maps the platform's numbers of exercises, which are the positions, to
// the client library's. Both number the exercises in alphabetical order, but as of
// different times, so the numbers differ.
//
// Source: androidx.health.connect.client.records.ExerciseSessionRecord.
var clientExercises = []int64{
	-1, 2, 4, 5, 8, 9, 10, 11, 13, 14, 16, 26, 27, 28, 29, 31, 32, 33, 34, 35, 36, 37, 38, 39, 44, 46, 47, 48, 50, 51, 52, 53, 55, 56, 57,
	58, 59, 60, 61, 62, 63, 64, 65, 66, 68, 70, 71, 72, 73, 74, 75, 76, 78, 79, 80, 81, 82, 83, 0, 69, 25, 54,
}

// platformExercise returns the platform's number of an exercise of the client library, or
// -1 if the platform does not have it.
func platformExercise(client any) int64 {
	number, ok := integer(client)
	if !ok || number < 0 {
		return -1
	}
	for platform, one := range clientExercises {
		if one == number {
			return int64(platform)
		}
	}
	return -1
}
