package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// actors is the number of goroutines that change things.
const actors = 6

// world does random things through the API.
type world struct {
	api      *client
	mu       sync.Mutex
	users    []string
	deleted  []string // some of them were restored
	orders   []placedOrder
	imports  []userChange // imports and shifts to be undone
	shifts   []userChange
	products map[string]product
	done     map[string][2]int // by action: accepted and refused requests
}

// userChange is an import or shift of a user.
type userChange struct{ id, user string }

// placedOrder is an order.
type placedOrder struct{ id, user, method, sample string }

// product is a lab test, with the answers that its lab wants.
type product struct {
	id      string
	answers []object
}

// action is something that a team or a phone does.
type action struct {
	name   string
	weight int
	do     func(ctx context.Context, r *rand.Rand) (int, error)
}

func (w *world) actions() []action {
	return []action{
		{"create user", 3, w.createUser},
		{"change user", 4, w.changeUser},
		{"delete user", 1, w.deleteUser},
		{"restore user", 2, w.restoreUser},
		{"push samples", 30, w.pushSamples},
		{"push records", 10, w.pushRecords},
		{"delete records", 3, w.deleteRecords},
		{"push session", 4, w.pushSession},
		{"push history", 2, w.pushHistory},
		{"push summary", 12, w.pushSummary},
		{"push stream", 4, w.pushStream},
		{"delete data", 2, w.deleteData},
		{"import", 3, w.importExport},
		{"undo import", 1, w.undoImport},
		{"shift", 1, w.shift},
		{"unshift", 1, w.unshift},
		{"connect", 2, w.connect},
		{"disconnect", 2, w.disconnect},
		{"device", 2, w.device},
		{"order", 5, w.order},
		{"kit", 2, w.orderKit},
		{"register kit", 2, w.registerKit},
		{"simulate", 8, w.simulate},
		{"scenario", 3, w.scenario},
		{"advance", 2, w.advance},
		{"cancel order", 1, w.cancelOrder},
		{"recreate order", 1, w.recreateOrder},
		{"change order", 2, w.changeOrder},
		{"draw", 1, w.completeDraw},
		{"book", 4, w.book},
		{"cancel visit", 1, w.cancelVisit},
		{"resend", 1, w.resend},
		{"resolve review", 1, w.resolveReview},
		{"change settings", 1, w.changeSettings},
	}
}

// act does random things until ctx ends. It finishes the actions that it has begun. A
// phone repeats a request until it has an answer, and announces the last chunk of a
// history only then.
func (w *world) act(ctx context.Context, r *rand.Rand) {
	whole := context.WithoutCancel(ctx)
	all := w.actions()
	var total int
	for _, a := range all {
		total += a.weight
	}
	for ctx.Err() == nil {
		x, chosen := r.IntN(total), all[0]
		for _, a := range all {
			if chosen = a; x < a.weight {
				break
			}
			x -= a.weight
		}
		status, err := chosen.do(whole, r)
		if err != nil || status == 0 {
			continue // there is nothing to act on yet
		}
		w.mu.Lock()
		n := w.done[chosen.name]
		if status < 300 {
			n[0]++
		} else {
			n[1]++
		}
		w.done[chosen.name] = n
		w.mu.Unlock()
	}
}

func (w *world) summary() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, a := range w.actions() {
		n := w.done[a.name]
		all = append(all, fmt.Sprintf("%s %d/%d", a.name, n[0], n[1]))
	}
	return strings.Join(all, ", ")
}

func (w *world) prepare(ctx context.Context) error {
	w.products, w.done = map[string]product{}, map[string][2]int{}
	if _, err := w.api.ask(ctx, http.MethodPatch, "/v2/team/appointment_settings", "", object{"booking_before_requisition_enabled": true}); err != nil {
		return err
	}
	a, err := w.api.get(ctx, "/v3/lab_test")
	if err != nil {
		return err
	}
	for _, test := range listField(a.body, "data") {
		p := product{id: textField(test, "id"), answers: []object{}}
		for _, marker := range listField(test, "markers") {
			for _, q := range listField(marker, "aoe", "questions") {
				answer := "1"
				if all := listField(q, "answers"); len(all) > 0 {
					answer = textField(all[0], "code")
				}
				if q["required"] == true {
					p.answers = append(p.answers, object{"marker_id": marker["id"], "question_id": q["id"], "answer": answer})
				}
			}
		}
		w.products[textField(test, "method")] = p
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 4 {
		if _, err := w.createUser(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func pick[T any](r *rand.Rand, all []T) (one T) {
	if len(all) == 0 {
		return one
	}
	return all[r.IntN(len(all))]
}

func (w *world) user(r *rand.Rand) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return pick(r, w.users[max(0, len(w.users)-12):]) // few, so that their data meets
}

func (w *world) someOrder(r *rand.Rand) (placedOrder, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return pick(r, w.orders[max(0, len(w.orders)-25):]), len(w.orders) > 0
}

func (w *world) send(ctx context.Context, method, path, key string, body any) (int, answer, error) {
	a, err := w.api.ask(ctx, method, path, key, body)
	return a.status, a, err
}

func keyOf(r *rand.Rand) string { return fmt.Sprintf("mirror-%x", r.Uint64()) }

func (w *world) createUser(ctx context.Context, r *rand.Rand) (int, error) {
	body := object{"client_user_id": keyOf(r)}
	if r.IntN(2) == 0 {
		body["fallback_time_zone"] = pick(r, zones)
	}
	status, a, err := w.send(ctx, http.MethodPost, "/v2/user", keyOf(r), body)
	if id := textField(a.body, "user_id"); err == nil && id != "" {
		w.mu.Lock()
		w.users = append(w.users, id)
		w.mu.Unlock()
	}
	return status, err
}

var zones = []string{"Europe/Helsinki", "America/New_York", "Asia/Kolkata", "UTC"}

func (w *world) changeUser(ctx context.Context, r *rand.Rand) (int, error) {
	body := object{}
	switch r.IntN(5) {
	case 0:
		body["fallback_time_zone"] = pick(r, []any{"Europe/Helsinki", "America/New_York", nil})
	case 1:
		body["fallback_birth_date"] = pick(r, []any{"1980-02-03", "1991-05-06", nil})
	case 2:
		body["client_user_id"] = keyOf(r)
	case 3:
		body["ingestion_start"] = pick(r, []any{"2020-01-01", nil})
	case 4:
		body["ingestion_end"] = pick(r, []any{"2099-01-01", nil})
	}
	status, _, err := w.send(ctx, http.MethodPatch, "/v2/user/"+w.user(r), "", body)
	return status, err
}

func (w *world) deleteUser(ctx context.Context, r *rand.Rand) (int, error) {
	user := w.user(r)
	status, _, err := w.send(ctx, http.MethodDelete, "/v2/user/"+user, "", nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deleted = append(w.deleted, user)
	return status, err
}

func (w *world) restoreUser(ctx context.Context, r *rand.Rand) (int, error) {
	w.mu.Lock()
	user := pick(r, w.deleted)
	w.mu.Unlock()
	if user == "" {
		return 0, nil
	}
	status, _, err := w.send(ctx, http.MethodPost, "/v2/user/undo_delete?user_id="+user, "", nil)
	return status, err
}

// phones are the providers whose phones push.
var phones = []string{"apple_health_kit", "health_connect"}

// kind is a resource that phones push, with the types and the field with words that its
// samples may have.
type kind struct {
	name, unit, field string
	words             []string
	low, high         int
	types             []string
}

var kinds = []kind{
	{"heartrate", "bpm", "", nil, 50, 150, nil},
	{"steps", "count", "", nil, 1, 300, nil},
	{"glucose", "mmol/L", "", nil, 4, 9, []string{"automatic", "manual_scan"}},
	{"body_temperature", "°C", "sensor_location", []string{"ear", "forehead"}, 36, 40, nil},
	{"insulin_injection", "unit", "delivery_mode", []string{"basal", "bolus"}, 1, 9, nil},
	{"blood_pressure", "mmHg", "", nil, 100, 150, nil},
	{"body_weight", "kg", "", nil, 60, 90, nil},
	{"hrv", "rmssd", "", nil, 20, 90, []string{"rmssd", "sdnn"}},
	{"stand_hour", "count", "", nil, 1, 2, []string{"idle", "stood"}},
	{"caffeine", "mg", "", nil, 20, 90, nil},
}

func (w *world) pushSamples(ctx context.Context, r *rand.Rand) (int, error) {
	status, _, err := w.push(ctx, r, object{"stage": "daily"}, time.Now().UTC().AddDate(0, 0, -1))
	return status, err
}

// pushHistory pushes the past of a resource, whose values have no events, and ends it.
func (w *world) pushHistory(ctx context.Context, r *rand.Rand) (int, error) {
	status, _, err := w.push(ctx, r, object{"stage": "historical", "is_final_chunk": true}, time.Now().UTC().AddDate(0, 0, -30))
	return status, err
}

func (w *world) push(ctx context.Context, r *rand.Rand, body object, day time.Time) (int, answer, error) {
	k := pick(r, kinds)
	body["provider"] = pick(r, phones)
	if r.IntN(2) == 0 {
		body["time_zone"] = pick(r, zones)
	}
	body["data"] = w.samples(r, k, day)
	return w.send(ctx, http.MethodPost, "/v2/timeseries/"+w.user(r)+"/"+k.name, keyOf(r), body)
}

// samples returns up to eight samples of a kind, in the first 40 minutes of a day.
func (*world) samples(r *rand.Rand, k kind, day time.Time) (data []object) {
	last := 0
	for range 1 + r.IntN(8) {
		minute := r.IntN(40)
		if len(data) > 0 && r.IntN(4) == 0 {
			minute = last // several values of one key
		}
		last = minute
		at := day.Truncate(24 * time.Hour).Add(time.Duration(minute) * time.Minute)
		if r.IntN(5) == 0 {
			at = at.Add(123456 * time.Microsecond)
		}
		sample := object{"timestamp": at.Format(time.RFC3339Nano), "unit": k.unit, "source_type": pick(r, []string{"watch", "phone"})}
		value := float64(k.low + r.IntN(k.high-k.low))
		switch k.name {
		case "blood_pressure":
			sample["systolic"], sample["diastolic"] = value, value-40
		case "insulin_injection":
			sample["type"], sample["value"] = pick(r, []string{"rapid_acting", "long_acting"}), value
		default:
			sample["value"] = value
		}
		if k.name == "steps" {
			sample["end"] = at.Add(time.Duration(1+r.IntN(3)) * time.Minute).Format(time.RFC3339Nano)
		}
		if len(k.types) > 0 && r.IntN(2) == 0 {
			sample["type"] = pick(r, k.types)
		}
		if k.field != "" && r.IntN(2) == 0 {
			sample[k.field] = pick(r, k.words)
		}
		if r.IntN(4) == 0 {
			sample["source_app_id"] = "com.example"
		}
		if r.IntN(4) == 0 {
			sample["timezone_offset"] = pick(r, []int{7200, -18000})
		}
		data = append(data, sample)
	}
	return data
}

func (w *world) pushSummary(ctx context.Context, r *rand.Rand) (int, error) {
	day := time.Now().UTC().AddDate(0, 0, -1-r.IntN(3))
	at := day.Truncate(24 * time.Hour)
	resource := pick(r, []string{"activity", "sleep", "workouts", "body", "meal", "profile", "menstrual_cycle"})
	one := object{"source_type": pick(r, []string{"watch", "phone"})}
	switch resource {
	case "activity":
		one["calendar_date"], one["steps"], one["calories_active"] = at.Format(time.DateOnly), r.IntN(9000), r.IntN(900)
		if r.IntN(2) == 0 {
			one["distance"] = r.IntN(9000)
		}
	case "sleep":
		one["bedtime_start"], one["bedtime_stop"] = at.Add(-2*time.Hour).Format(time.RFC3339), at.Add(time.Duration(300+r.IntN(60))*time.Minute).Format(time.RFC3339)
		if r.IntN(2) == 0 {
			one["hr_lowest"] = 40 + r.IntN(20)
		}
	case "workouts":
		one["time_start"], one["time_end"], one["title"] = at.Add(10*time.Hour).Format(time.RFC3339), at.Add(11*time.Hour).Format(time.RFC3339), keyOf(r)
		one["calories"] = r.IntN(500)
	case "body":
		one["calendar_date"], one["weight"] = at.Format(time.DateOnly), 60+r.IntN(30)
	case "meal":
		one["timestamp"], one["name"] = at.Add(12*time.Hour).Format(time.RFC3339), keyOf(r)
	case "profile":
		one["height"] = 150 + r.IntN(40)
	case "menstrual_cycle":
		one["period_start"] = at.Format(time.DateOnly)
		one["cycle_length"] = 25 + r.IntN(8)
	}
	body := object{"stage": "daily", "provider": pick(r, phones), "data": []object{one}}
	if r.IntN(2) == 0 {
		body["time_zone"] = pick(r, zones)
	}
	status, _, err := w.send(ctx, http.MethodPost, "/v2/summary/"+resource+"/"+w.user(r), keyOf(r), body)
	return status, err
}

// pushStream pushes a workout and heart rates that cover it, which gives it zones.
func (w *world) pushStream(ctx context.Context, r *rand.Rand) (int, error) {
	at := time.Now().UTC().AddDate(0, 0, -1-r.IntN(3)).Truncate(24 * time.Hour).Add(15 * time.Hour)
	user, provider := w.user(r), "apple_health_kit"
	body := object{"stage": "daily", "provider": provider, "data": []object{{
		"time_start": at.Format(time.RFC3339), "time_end": at.Add(10 * time.Minute).Format(time.RFC3339), "source_type": "watch", "calories": r.IntN(500),
	}}}
	if _, _, err := w.send(ctx, http.MethodPost, "/v2/summary/workouts/"+user, keyOf(r), body); err != nil {
		return 0, err
	}
	var data []object
	for n := range 40 {
		data = append(data, object{"timestamp": at.Add(time.Duration(n*15) * time.Second).Format(time.RFC3339), "value": 90 + r.IntN(80), "unit": "bpm", "source_type": "watch"})
	}
	status, _, err := w.send(ctx, http.MethodPost, "/v2/timeseries/"+user+"/heartrate", keyOf(r), object{"stage": "daily", "provider": provider, "data": data})
	return status, err
}

// deleteData deletes data of a day by a filter.
func (w *world) deleteData(ctx context.Context, r *rand.Rand) (int, error) {
	filter := url.Values{}
	if r.IntN(3) > 0 {
		filter.Set("resource", pick(r, []string{"heartrate", "steps", "glucose", "body_temperature", "activity", "sleep", "workouts", "body"}))
	}
	if r.IntN(2) == 0 {
		filter.Set("provider", pick(r, phones))
	}
	day := time.Now().UTC().AddDate(0, 0, -1-r.IntN(3)).Format(time.DateOnly)
	filter.Set("start", day)
	filter.Set("end", day)
	status, _, err := w.send(ctx, http.MethodDelete, "/v2/user/"+w.user(r)+"/data?"+filter.Encode(), "", nil)
	return status, err
}

// importExport imports a small Apple Health export, with records that phones may push too.
func (w *world) importExport(ctx context.Context, r *rand.Rand) (int, error) {
	day := time.Now().UTC().AddDate(0, 0, -1).Truncate(24 * time.Hour)
	text := `<?xml version="1.0" encoding="UTF-8"?><HealthData locale="en_US"><ExportDate value="` + exportTime(time.Now()) + `"/>`
	for range 2 + r.IntN(8) {
		at := day.Add(time.Duration(r.IntN(40)) * time.Minute)
		name, device, end := "Own iPhone", "iPhone17,2", at.Add(time.Duration(1+r.IntN(3))*time.Minute)
		if r.IntN(2) == 0 {
			name, device = "Own Apple Watch", "Watch6,2"
		}
		kind, unit, value := "StepCount", "count", 1+r.IntN(299)
		if r.IntN(2) == 0 {
			kind, unit, value, end = "HeartRate", "count/min", 50+r.IntN(100), at
		}
		text += fmt.Sprintf(`<Record type="HKQuantityTypeIdentifier%s" sourceName="%s" device="&lt;hardware:%s&gt;" unit="%s" startDate="%s" endDate="%s" value="%d"/>`,
			kind, name, device, unit, exportTime(at), exportTime(end), value)
	}
	user := w.user(r)
	a, err := w.api.askText(ctx, http.MethodPost, "/v2/user/"+user+"/imports", keyOf(r), []byte(text+"</HealthData>"))
	w.remember(&w.imports, textField(a.body, "id"), user)
	return a.status, err
}

func exportTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 +0000") }

func (w *world) remember(all *[]userChange, id, user string) {
	if id != "" {
		w.mu.Lock()
		*all = append(*all, userChange{id, user})
		w.mu.Unlock()
	}
}

func (w *world) recent(r *rand.Rand, all *[]userChange) userChange {
	w.mu.Lock()
	defer w.mu.Unlock()
	return pick(r, (*all)[max(0, len(*all)-12):])
}

func (w *world) undoImport(ctx context.Context, r *rand.Rand) (int, error) {
	one := w.recent(r, &w.imports)
	if one.id == "" {
		return 0, nil
	}
	status, _, err := w.send(ctx, http.MethodDelete, "/v2/user/"+one.user+"/imports/"+one.id+"/data", "", nil)
	return status, err
}

// shift moves data of a phone by some minutes, onto other data.
func (w *world) shift(ctx context.Context, r *rand.Rand) (int, error) {
	user, day := w.user(r), time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	body := object{"provider": pick(r, phones), "start": day, "end": day, "seconds": 60 * (1 + r.IntN(9))}
	status, a, err := w.send(ctx, http.MethodPost, "/v2/user/"+user+"/data/shifts", keyOf(r), body)
	w.remember(&w.shifts, textField(a.body, "id"), user)
	return status, err
}

func (w *world) unshift(ctx context.Context, r *rand.Rand) (int, error) {
	one := w.recent(r, &w.shifts)
	if one.id == "" {
		return 0, nil
	}
	status, _, err := w.send(ctx, http.MethodDelete, "/v2/user/"+one.user+"/data/shifts/"+one.id, "", nil)
	return status, err
}

func (w *world) connect(ctx context.Context, r *rand.Rand) (int, error) {
	path := "/v2/link/provider/manual/" + pick(r, []string{"apple_health_kit", "health_connect", "samsung_health"})
	status, _, err := w.send(ctx, http.MethodPost, path, "", object{"user_id": w.user(r)})
	return status, err
}

func (w *world) disconnect(ctx context.Context, r *rand.Rand) (int, error) {
	path := "/v2/user/" + w.user(r) + "/" + pick(r, []string{"apple_health_kit", "health_connect", "samsung_health"})
	status, _, err := w.send(ctx, http.MethodDelete, path, "", nil)
	return status, err
}

func (w *world) device(ctx context.Context, r *rand.Rand) (int, error) {
	body := object{"provider": "health_connect", "source_type": "watch", "device_manufacturer": "Example", "device_model": pick(r, []string{"One", "Two"}), "device_version": fmt.Sprintf("1.%d", r.IntN(9))}
	status, _, err := w.send(ctx, http.MethodPost, "/v2/user/"+w.user(r)+"/device", keyOf(r), body)
	return status, err
}
