package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hale/internal/app"
	"hale/internal/labs/networks/networktest"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
)

// eventProperty relates event types to a read. The payload of such an event equals the
// read at the event's number.
type eventProperty struct {
	pattern string // of types
	test    string // the function that compares; empty with a reason
	reason  string // why nothing is compared here
}

// eventProperties lists the properties; the first pattern that matches counts.
var eventProperties = []eventProperty{
	{pattern: "user.deleted", test: "TestPayloadsOfDataEqualTheirReads"},
	{pattern: "user.*", test: "TestPayloadsEqualTheirReads"},
	{pattern: "provider.connection.deleted", test: "TestPayloadsOfDataEqualTheirReads"},
	{pattern: "provider.connection.error", reason: "not sent: Hale fetches nothing from providers"},
	{pattern: "provider.connection.*", test: "TestPayloadsEqualTheirReads"},
	{pattern: "provider.device.*", test: "TestPayloadsOfDataEqualTheirReads"},
	{pattern: "daily.data.*", test: "TestPayloadsOfDataEqualTheirReads"},
	{pattern: "historical.data.workout_stream.created", reason: "of an export of workouts, not of pushes; internal/wearables/imports TestHistoryArrivesFileByFile has it"},
	{pattern: "historical.data.*", test: "TestPayloadsOfHistoriesEqualTheirReads"},
	{pattern: "labtest.order.*", test: "TestPayloadsEqualTheirReads"},
	{pattern: "labtest.appointment.*", test: "TestPayloadsEqualTheirReads"},
	{pattern: "labtest.result.critical", test: "TestPayloadsOfReviewsEqualTheirReads"},
	{pattern: "labtest.critical_result.acknowledged", test: "TestPayloadsOfReviewsEqualTheirReads"},
	{pattern: "labtest.critical_result.escalated", reason: "after an hour without an acknowledgement, with the payload of acknowledged; internal/labs/critical tests it with a clock"},
	{pattern: "labtest.critical_result.closed", reason: "after the decision of a review, with the payload of acknowledged; internal/labs/critical tests it"},
	{pattern: "labtest.match_review.*", test: "TestPayloadsOfReviewsEqualTheirReads"},
	{pattern: "lab_report.parsing_job.*", test: "TestPayloadsOfReviewsEqualTheirReads"},
	{pattern: "continuous_query.result_table.changed", test: "TestPayloadsOfQueriesAndEndpointsEqualTheirReads"},
	{pattern: "message.attempt.exhausted", reason: "of a delivery after a day of attempts; internal/platform/webhooks tests it with a clock"},
	{pattern: "webhook.endpoint.disabled", test: "TestPayloadsOfQueriesAndEndpointsEqualTheirReads"},
}

func propertyOf(kind string) *eventProperty {
	for i := range eventProperties {
		if ok, err := path.Match(eventProperties[i].pattern, kind); ok && err == nil {
			return &eventProperties[i]
		}
	}
	return nil
}

// Each event type has a property, or a reason for none.
func TestEveryEventTypeHasAProperty(t *testing.T) {
	used := map[string]bool{}
	for _, kind := range app.EventTypes().Types() {
		p := propertyOf(kind.Name)
		if p == nil || p.test == "" && p.reason == "" {
			t.Errorf("%s has neither a property nor a reason", kind.Name)
			continue
		}
		used[p.pattern] = true
	}
	for i := range eventProperties {
		if !used[eventProperties[i].pattern] {
			t.Errorf("no event type is %s", eventProperties[i].pattern)
		}
	}
}

// expectCompared fails if the test did not compare an event type that it must compare.
func expectCompared(t *testing.T, test string, compared map[string]int) {
	t.Helper()
	for _, kind := range app.EventTypes().Types() {
		if p := propertyOf(kind.Name); p != nil && p.test == test && compared[kind.Name] == 0 {
			t.Errorf("%s was not compared", kind.Name)
		}
	}
}

// dataCopy is a copy of a team's data, built from its events. Its keys are resources and
// the keys of values.
type dataCopy struct {
	last map[string]dataValue
}

// dataValue is the last event of a key; doc is nil after a deletion.
type dataValue struct {
	kind, user, resource, provider string
	at                             time.Time
	doc                            map[string]any
}

var summaryResources = []string{"activity", "sleep", "sleep_cycle", "workouts", "body", "meal", "menstrual_cycle", "profile", "electrocardiogram"}

// take applies an event. Deletions of ranges hide samples.
func (c *dataCopy) take(e *feedEvent) {
	parts := strings.Split(e.Type, ".")
	if parts[0] != "daily" {
		return
	}
	resource, data := parts[2], e.Event.Data
	switch samples, list := data["data"].([]any); {
	case parts[3] == "deleted":
		first, last := instantOf(data["start_date"]), instantOf(data["end_date"])
		for key, v := range c.last {
			id, _ := v.doc["id"].(string)
			inRange := id == "" && slices.Contains(data["providers"].([]any), any(v.provider)) && !v.at.Before(first) && !v.at.After(last)
			if v.user == e.Event.User && v.resource == resource && (inRange || slices.Contains(data["ids"].([]any), any(id))) {
				v.kind, v.doc = e.Type, nil
				c.last[key] = v
			}
		}
	case list:
		source := data["source"].(map[string]any)
		for _, one := range samples {
			sample := one.(map[string]any)
			c.last[sampleKeyOf(e.Event.User, resource, source, sample)] = dataValue{
				kind: e.Type, user: e.Event.User, resource: resource, provider: fmt.Sprint(source["provider"]), at: instantOf(sample["timestamp"]), doc: sample,
			}
		}
	case slices.Contains(summaryResources, resource):
		c.last[e.Event.User+" "+resource+" "+fmt.Sprint(data["id"])] = dataValue{kind: e.Type, user: e.Event.User, resource: resource, doc: data}
	}
}

func instantOf(v any) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, fmt.Sprint(v))
	return at
}

func sampleKeyOf(user, resource string, source, sample map[string]any) string {
	return fmt.Sprint(user, " ", resource, " ", source["provider"], source["type"], source["app_id"], source["device_id"], " ", sample["type"], sample["timestamp"])
}

// pathName returns the name in paths of a resource of events.
func pathName(resource string) string {
	if r, known := wearables.ResourceNamed(resource); known {
		return r.Name
	}
	return resource
}

// readData reads the data of a user's resource, with the keys of dataCopy, and the
// number of the last event that the answers contain.
func (c *clinic) readData(user, resource string) (seq int64, all map[string]map[string]any) {
	c.t.Helper()
	all = map[string]map[string]any{}
	const days = "start_date=2025-01-01&end_date=2100-01-01"
	if slices.Contains(summaryResources, resource) {
		seq, body := c.readAt("/v2/summary/" + resource + "/" + user + "?" + days)
		if resource == "profile" {
			body = map[string]any{"profile": []any{body}}
		}
		for _, list := range body {
			list, _ := list.([]any)
			for _, one := range list {
				doc := one.(map[string]any)
				all[user+" "+resource+" "+fmt.Sprint(doc["id"])] = doc
			}
		}
		return seq, all
	}
	for cursor := ""; ; {
		n, body := c.readAt("/v2/timeseries/" + user + "/" + pathName(resource) + "/grouped?" + days + cursor)
		if seq == 0 {
			seq = n
		}
		for _, groups := range body["groups"].(map[string]any) {
			for _, one := range groups.([]any) {
				group := one.(map[string]any)
				for _, sample := range group["data"].([]any) {
					sample := sample.(map[string]any)
					all[sampleKeyOf(user, resource, group["source"].(map[string]any), sample)] = sample
				}
			}
		}
		next, _ := body["next_cursor"].(string)
		if next == "" {
			return seq, all
		}
		cursor = "&next_cursor=" + url.QueryEscape(next)
	}
}

// compareData compares the reads of all data with the events up to their numbers.
func (c *clinic) compareData(compared map[string]int) (found []string) {
	c.t.Helper()
	type place struct{ user, resource string }
	places := map[place]bool{}
	for _, e := range c.feed() {
		if parts := strings.Split(e.Type, "."); parts[0] == "daily" && parts[2] != "workout_stream" {
			places[place{e.Event.User, parts[2]}] = true
		}
	}
	for p := range places {
		seq, read := c.readData(p.user, p.resource)
		copied := dataCopy{last: map[string]dataValue{}}
		for _, e := range c.feed() {
			if e.Seq <= seq {
				copied.take(&e)
			}
		}
		for key, v := range copied.last {
			if v.user != p.user || v.resource != p.resource {
				continue
			}
			if p.resource == "profile" && v.doc != nil && read[key] == nil {
				continue // a read has the latest profile of all sources
			}
			compared[v.kind]++
			if v.doc == nil && read[key] == nil {
				continue
			}
			if diff := cmp.Diff(v.doc, read[key]); diff != "" {
				found = append(found, fmt.Sprintf("%s, %s (-event +read at %d):\n%s", v.kind, key, seq, diff))
			}
		}
		for key := range read {
			if _, known := copied.last[key]; !known {
				found = append(found, fmt.Sprintf("%s is in the read at %d without an event", key, seq))
			}
		}
	}
	return found
}

// exampleSamples returns samples of a resource in the form of a push, as the example of
// its event. Odd versions have other values.
func exampleSamples(r *wearables.Resource, version int, at time.Time) string {
	value := r.Example.Value
	if version%2 == 1 {
		value = min(value+1, r.Max)
		if r.Example.Value > 10 {
			value = float64(int(r.Example.Value * .95))
		}
	}
	sample := map[string]any{"timestamp": at.Format(time.RFC3339), "source_type": "watch", "unit": r.Unit, "value": value}
	if r.Example.Type != "" {
		sample["type"] = r.Example.Type
	}
	if r.Interval {
		sample["end"] = at.Add(time.Duration(10+version) * time.Minute).Format(time.RFC3339) // also a change
	}
	if r.Pair {
		delete(sample, "value")
		sample["systolic"], sample["diastolic"] = value, r.Example.Low
	}
	for _, field := range r.Extra {
		if field.Example != "" {
			sample[field.Name] = field.Example
		}
	}
	if r.Text {
		sample = map[string]any{"timestamp": at.Format(time.RFC3339), "source_type": "watch", "value": fmt.Sprint("note ", version), "tags": []string{r.Tags[0]}}
	}
	text, err := json.Marshal([]any{sample})
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(text)
}

// exampleSummaries returns a summary of each resource in the form of a push.
func exampleSummaries(version int) map[string]string {
	return map[string]string{
		"activity":          fmt.Sprintf(`{"calendar_date":"2026-03-01","steps":%d}`, 100+version),
		"body":              fmt.Sprintf(`{"calendar_date":"2026-03-01","weight":%d}`, 70+version),
		"electrocardiogram": fmt.Sprintf(`{"session_start":"2026-03-01T07:00:00Z","session_end":"2026-03-01T07:00:30Z","heart_rate_mean":%d}`, 60+version),
		"meal":              fmt.Sprintf(`{"timestamp":"2026-03-01T12:10:00Z","name":"lunch","energy":{"unit":"kcal","value":%d}}`, 600+version),
		"menstrual_cycle":   fmt.Sprintf(`{"period_start":"2026-03-01","period_end":"2026-03-0%d"}`, 4+version%3),
		"profile":           fmt.Sprintf(`{"height":%d}`, 170+version),
		"sleep":             fmt.Sprintf(`{"bedtime_start":"2026-02-28T22:00:00Z","bedtime_stop":"2026-03-01T06:00:00Z","hr_lowest":%d}`, 50+version),
		"sleep_cycle":       fmt.Sprintf(`{"session_start":"2026-02-28T22:00:00Z","session_end":"2026-03-01T06:00:00Z","stage_start_offset_second":[0],"stage_end_offset_second":[%d],"stage_type":[2]}`, 1800+version),
		"workouts":          fmt.Sprintf(`{"time_start":"2026-03-01T10:00:00Z","time_end":"2026-03-01T10:30:00Z","calories":%d}`, 100+version),
	}
}

func pushBody(provider, stage, data string) string {
	return `{"provider":"` + provider + `",` + stage + `,"time_zone":"UTC","data":` + data + `}`
}

// pushExamples pushes a sample of each resource and a summary of each kind.
func (c *clinic) pushExamples(user, provider string, version int, stage string) {
	c.t.Helper()
	for _, r := range wearables.Resources() {
		if !r.Push && !r.Text {
			continue
		}
		var answer struct{ Rejected []any }
		c.Expect(200, "POST", "/v2/timeseries/"+user+"/"+r.Name, pushBody(provider, stage, exampleSamples(&r, version, time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC))), &answer)
		if len(answer.Rejected) > 0 {
			c.t.Errorf("%s was rejected: %v", r.Name, answer.Rejected)
		}
	}
	c.pushSummaries(user, provider, version, stage)
}

// pushSummaries pushes a summary of each kind.
func (c *clinic) pushSummaries(user, provider string, version int, stage string) {
	c.t.Helper()
	for resource, one := range exampleSummaries(version) {
		var answer struct{ Rejected []any }
		c.Expect(200, "POST", "/v2/summary/"+resource+"/"+user, pushBody(provider, stage, "["+one+"]"), &answer)
		if len(answer.Rejected) > 0 {
			c.t.Errorf("%s was rejected: %v", resource, answer.Rejected)
		}
	}
}

// agreed compares until nothing differs: a read may contain a change whose event comes
// later.
func (c *clinic) agreed(compare func(map[string]int) []string, compared map[string]int) {
	c.t.Helper()
	found := compare(maps.Clone(compared))
	for try := 0; len(found) > 0 && try < 100; try++ {
		time.Sleep(300 * time.Millisecond)
		found = compare(maps.Clone(compared))
	}
	compare(compared)
	for _, text := range found {
		c.t.Error(text)
	}
}

// The test creates, changes and deletes samples and summaries of every resource. Reads
// must return them as in their last event. The test also compares devices and streams.
// After a connection or a user ends, reads do not contain it.
func TestPayloadsOfDataEqualTheirReads(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		compared := map[string]int{}
		daily := `"stage":"daily"`
		c.pushSummaries(c.NewUser("summaries-alone"), "apple_health_kit", 0, daily) // nothing is derived from samples, which would change them
		c.agreed(c.compareData, compared)
		c.pushExamples(c.user, "apple_health_kit", 0, daily)
		c.pushExamples(c.user, "health_connect", 0, daily)
		c.agreed(c.compareData, compared)
		c.pushExamples(c.user, "apple_health_kit", 1, daily)
		c.agreed(c.compareData, compared)
		c.Expect(200, "DELETE", "/v2/user/"+c.user+"/data?provider=apple_health_kit", "", nil)
		c.agreed(c.compareData, compared)

		c.compareStreams(compared)
		c.compareDevices(compared)
		c.compareEnds(compared)
		expectCompared(t, "TestPayloadsOfDataEqualTheirReads", compared)
	})
}

// compareStreams imports a recorded workout twice, the second time with another power,
// and deletes its stream. The events name the workout, and the read contains the
// recording.
func (c *clinic) compareStreams(compared map[string]int) {
	c.t.Helper()
	user := c.NewUser("streams")
	for _, power := range []int{210, 220} {
		kind := "daily.data.workout_stream.created"
		if power == 220 {
			kind = "daily.data.workout_stream.updated"
		}
		c.Expect(202, "POST", "/v2/user/"+user+"/imports", recordedWalk(power), nil)
		e := c.eventOf(kind, func(e *feedEvent) bool { return e.Event.User == user })
		address := "/v2/timeseries/workouts/" + fmt.Sprint(e.Event.Data["workout_id"]) + "/stream"
		_, stream := c.readAt(address)
		if diff := cmp.Diff(walkStream(power), stream); diff != "" {
			c.t.Errorf("%s (-recorded +read):\n%s", kind, diff)
		}
		c.compareWorkout(e)
		compared[kind]++
		if power == 220 {
			const deleted = "daily.data.workout_stream.deleted"
			c.Expect(200, "DELETE", "/v2/user/"+user+"/data?resource=workout_stream", "", nil)
			gone := c.eventOf(deleted, func(gone *feedEvent) bool { return gone.Event.User == user })
			if diff := cmp.Diff([]any{e.Event.Data["workout_id"]}, gone.Event.Data["ids"]); diff != "" {
				c.t.Errorf("%s (-workout +ids):\n%s", deleted, diff)
			}
			_, stream := c.readAt(address)
			for name, column := range stream {
				if list, _ := column.([]any); len(list) > 0 {
					c.t.Errorf("%s: the read has %s: %v", deleted, name, column)
				}
			}
			compared[deleted]++
		}
	}
}

// compareWorkout compares the fields that the event of a stream shares with its workout.
func (c *clinic) compareWorkout(e *feedEvent) {
	c.t.Helper()
	_, body := c.readAt("/v2/summary/workouts/" + e.Event.User + "?start_date=2024-01-01&end_date=2100-01-01")
	for _, one := range body["workouts"].([]any) {
		workout := one.(map[string]any)
		if workout["id"] != e.Event.Data["workout_id"] {
			continue
		}
		for _, name := range []string{"user_id", "provider_id", "sport", "source"} {
			if diff := cmp.Diff(e.Event.Data[name], workout[name]); diff != "" {
				c.t.Errorf("%s, %s (-event +workout):\n%s", e.Type, name, diff)
			}
		}
		return
	}
	c.t.Errorf("%s: the workout %v is not in its read", e.Type, e.Event.Data["workout_id"])
}

// recordedWalk returns a track of three points with a power.
func recordedWalk(power int) string {
	text := `<gpx version="1.1" creator="StravaGPX iPhone" xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v1"><trk><name>Walk</name><type>walking</type><trkseg>`
	for n := range 3 {
		text += fmt.Sprintf(`<trkpt lat="46.00%d" lon="14.0"><ele>30%d</ele><time>2024-05-01T06:0%d:00Z</time><extensions><power>%d</power>`+
			`<gpxtpx:TrackPointExtension><gpxtpx:atemp>18</gpxtpx:atemp><gpxtpx:hr>%d</gpxtpx:hr><gpxtpx:cad>55</gpxtpx:cad></gpxtpx:TrackPointExtension></extensions></trkpt>`,
			n, n, n, power+n, 98+n)
	}
	return text + `</trkseg></trk></gpx>`
}

// walkStream returns the expected stream of recordedWalk.
func walkStream(power int) map[string]any {
	column := func(values ...float64) []any {
		all := []any{}
		for _, v := range values {
			all = append(all, v)
		}
		return all
	}
	w := float64(power)
	return map[string]any{
		"time": column(1714543200, 1714543260, 1714543320), "cadence": column(55, 55, 55), "heartrate": column(98, 99, 100),
		"distance": column(0, 111.2, 222.39), "altitude": column(300, 301, 302), "velocity_smooth": column(), "lat": column(46, 46.001, 46.002),
		"lng": column(14, 14, 14), "power": column(w, w+1, w+2), "resistance": column(), "temperature": column(18, 18, 18),
	}
}

// eventOf waits for the last event of a type that has a property.
func (c *clinic) eventOf(kind string, wanted func(*feedEvent) bool) (last *feedEvent) {
	c.t.Helper()
	c.eventually(func() bool {
		for _, e := range c.feed() {
			if e.Type == kind && wanted(&e) {
				last = &e
			}
		}
		return last != nil
	}, "there is no event "+kind)
	return last
}

func (c *clinic) compareDevices(compared map[string]int) {
	c.t.Helper()
	var device struct{ ID string }
	for version, kind := range []string{"provider.device.created", "provider.device.updated"} {
		c.Expect(200, "POST", "/v2/user/"+c.user+"/device", fmt.Sprintf(`{"provider":"health_connect","source_type":"watch","device_manufacturer":"Example","device_model":"One","device_version":"1.%d"}`, version), &device)
		e := c.eventOf(kind, func(e *feedEvent) bool { return e.Event.Data["id"] == device.ID })
		_, read := c.readAt("/v2/user/" + c.user + "/device/" + device.ID)
		if diff := cmp.Diff(e.Event.Data, read); diff != "" {
			c.t.Errorf("%s (-event +read):\n%s", kind, diff)
		}
		compared[kind]++
	}
}

// compareEnds disconnects a provider and deletes a user. After that, reads must not
// contain them.
func (c *clinic) compareEnds(compared map[string]int) {
	c.t.Helper()
	c.Expect(200, "DELETE", "/v2/user/"+c.user+"/health_connect", "", nil)
	c.eventOf("provider.connection.deleted", func(e *feedEvent) bool { return connectionSlug(e) == "health_connect" })
	_, body := c.readAt("/v2/user/providers/" + c.user)
	for _, one := range body["providers"].([]any) {
		if one.(map[string]any)["slug"] == "health_connect" {
			c.t.Error("the connection is in the list after its deletion")
		}
	}
	compared["provider.connection.deleted"]++
	c.Expect(200, "DELETE", "/v2/user/"+c.user, "", nil)
	c.eventOf("user.deleted", func(e *feedEvent) bool { return e.Event.User == c.user })
	if status, _ := c.Call("GET", "/v2/user/"+c.user, ""); status != 404 {
		c.t.Errorf("the deleted user was answered %d", status)
	}
	compared["user.deleted"]++
}

// The event of a history names a range and a provider. A read of the range contains the
// pushed data. The provider has no data outside of the range.
func TestPayloadsOfHistoriesEqualTheirReads(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		c.pushExamples(c.user, "apple_health_kit", 0, `"stage":"historical","is_final_chunk":true`)
		compared := map[string]int{}
		compare := func(compared map[string]int) (found []string) {
			for _, e := range c.feed() {
				parts := strings.Split(e.Type, ".")
				if parts[0] != "historical" {
					continue
				}
				compared[e.Type]++
				found = append(found, c.compareHistory(&e, parts[2])...)
				first, last := instantOf(e.Event.Data["start_date"]), instantOf(e.Event.Data["end_date"])
				seq, read := c.readData(e.Event.User, parts[2])
				if seq < e.Seq || len(read) == 0 {
					found = append(found, fmt.Sprintf("%s: event %d, the read at %d has %d records", e.Type, e.Seq, seq, len(read)))
				}
				for key, one := range read {
					at := instantOf(one["timestamp"])
					if one["timestamp"] != nil && (at.Before(first) || at.After(last)) {
						found = append(found, fmt.Sprintf("%s: %s is outside %v and %v", e.Type, key, first, last))
					}
				}
			}
			return found
		}
		c.agreed(compare, compared)
		expectCompared(t, "TestPayloadsOfHistoriesEqualTheirReads", compared)
	})
}

// compareHistory compares the range of an event with the one of introspection.
func (c *clinic) compareHistory(e *feedEvent, resource string) (found []string) {
	c.t.Helper()
	provider := fmt.Sprint(e.Event.Data["provider"])
	var body struct {
		Data []struct {
			Provider map[string]struct {
				Pulled map[string]struct {
					Status string `json:"status"`
					Start  string `json:"range_start"`
					End    string `json:"range_end"`
					Days   int    `json:"days_with_data"`
				}
			}
		}
	}
	c.Get("/v2/introspect/historical_pull?user_id="+e.Event.User+"&provider="+provider, &body)
	if len(body.Data) != 1 {
		return []string{fmt.Sprintf("%s: %d users in the read", e.Type, len(body.Data))}
	}
	pulled := body.Data[0].Provider[provider].Pulled[resource]
	read := map[string]any{"start_date": pulled.Start, "end_date": pulled.End, "status": pulled.Status, "has days": pulled.Days > 0}
	event := map[string]any{"start_date": e.Event.Data["start_date"], "end_date": e.Event.Data["end_date"], "status": "success", "has days": resource != "profile"} // profiles have no day
	if diff := cmp.Diff(event, read); diff != "" {
		return []string{fmt.Sprintf("%s (-event +read):\n%s", e.Type, diff)}
	}
	return nil
}

// The reads of critical results, unmatched results and report jobs equal their last
// events.
func TestPayloadsOfReviewsEqualTheirReads(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		compared := map[string]int{}
		o := c.order("walk_in_test")
		c.Expect(200, "POST", "/v3/sandbox/order/"+o.ID+"/run", `{"script":"critical"}`, nil)
		c.Expect(200, "POST", "/v3/sandbox/advance", `{"seconds":2592000}`, nil)
		critical := c.eventOf("labtest.result.critical", func(e *feedEvent) bool { return e.Event.Data["order_id"] == o.ID })
		_, result := c.readAt("/v3/order/" + o.ID + "/result")
		_, order := c.readAt("/v3/order/" + o.ID)
		metadata := result["metadata"].(map[string]any)
		read := map[string]any{
			"order_id": order["id"], "sample_id": order["sample_id"], "status": metadata["status"], "interpretation": metadata["interpretation"],
			"team_id": order["team_id"], "user_id": order["user_id"], "created_at": order["created_at"], "updated_at": order["updated_at"],
		}
		if diff := cmp.Diff(critical.Event.Data, read); diff != "" {
			t.Errorf("labtest.result.critical (-event +read):\n%s", diff)
		}
		compared["labtest.result.critical"]++

		var notices struct{ Data []struct{ ID string } }
		c.Get("/v3/critical_result", &notices)
		if len(notices.Data) == 0 {
			t.Fatal("no critical result")
		}
		notice := "/v3/critical_result/" + notices.Data[0].ID
		c.Expect(200, "POST", notice+"/acknowledge", `{"notified_person":"Dr. Example","read_back":true}`, nil)
		c.compareRecord("labtest.critical_result.acknowledged", notice, noticeFields, compared)

		r := rehearse(t, c.Service, "review", `{"case":"no_match","order_source":"managed","result_status":"final","interpretation":"abnormal"}`)
		if r.RawResultID == nil {
			t.Fatalf("the run is %+v", r)
		}
		unmatched := "/v3/unmatched_result/" + *r.RawResultID
		c.compareRecord("labtest.match_review.created", unmatched, nil, compared)
		c.Expect(200, "POST", unmatched+"/resolve", `{"action":"reject","note":"not ours"}`, nil)
		c.compareRecord("labtest.match_review.updated", unmatched, nil, compared)

		form, kind := reportForm(t, c.user, "application/pdf", "%PDF-1.4 one", "needs_human_review", "true")
		var job struct{ ID string }
		if status, answer := c.Call("POST", parserJobs, form, "Content-Type", kind, "Idempotency-Key", "one"); status != 200 || json.Unmarshal(answer, &job) != nil {
			t.Fatalf("%d %s", status, answer)
		}
		begun := c.eventOf("lab_report.parsing_job.created", func(e *feedEvent) bool { return e.Event.Data["id"] == job.ID })
		_, now := c.readAt(parserJobs + "/" + job.ID)
		reading := []string{"status", "data", "review_reasons", "patient_match", "patient_problems", "pages", "interpretation", "updated_at"} // the report is read at once
		for name, value := range now {
			was, known := begun.Event.Data[name]
			if !known || !slices.Contains(reading, name) && !cmp.Equal(was, value) {
				t.Errorf("lab_report.parsing_job.created differs in %s: %v, the read is %v", name, was, value)
			}
		}
		if len(begun.Event.Data) != len(now) {
			t.Errorf("lab_report.parsing_job.created has %d fields, the read %d", len(begun.Event.Data), len(now))
		}
		compared["lab_report.parsing_job.created"]++
		c.agreed(func(compared map[string]int) []string {
			e := c.eventOf("lab_report.parsing_job.updated", func(e *feedEvent) bool { return e.Event.Data["id"] == job.ID })
			_, read := c.readAt(parserJobs + "/" + job.ID)
			compared[e.Type]++
			if diff := cmp.Diff(e.Event.Data, read); diff != "" {
				return []string{e.Type + " (-event +read):\n" + diff}
			}
			return nil
		}, compared)
		expectCompared(t, "TestPayloadsOfReviewsEqualTheirReads", compared)
	})
}

// noticeFields lists the fields in events of notices that have another name in their
// read, or "" if the read does not have them.
var noticeFields = map[string]string{"acknowledged_at": "ended_at", "team_id": ""}

// compareRecord compares an event with the read of its record. The read must have all
// fields of the event. others maps fields to their name in the read, or to "" if the read
// does not have them.
func (c *clinic) compareRecord(kind, address string, others map[string]string, compared map[string]int) {
	c.t.Helper()
	id := path.Base(address)
	e := c.eventOf(kind, func(e *feedEvent) bool { return e.Event.Data["id"] == id })
	_, read := c.readAt(address)
	for name, value := range e.Event.Data {
		other, renamed := others[name]
		if renamed && other == "" {
			continue
		}
		if !renamed {
			other = name
		}
		if _, known := read[other]; !known {
			c.t.Errorf("%s: the read has no %s: %v", kind, other, read)
		}
		if diff := cmp.Diff(value, read[other]); diff != "" {
			c.t.Errorf("%s, %s (-event +read):\n%s", kind, name, diff)
		}
	}
	compared[kind]++
}

// The table of a continuous query contains the rows of its event, and an endpoint is
// disabled as its event states.
func TestPayloadsOfQueriesAndEndpointsEqualTheirReads(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := newClinic(t, d, &networktest.Lab{Name: "elsewhere"})
		compared := map[string]int{}
		c.compareEndpoint(compared)
		c.compareTable(compared)
		expectCompared(t, "TestPayloadsOfQueriesAndEndpointsEqualTheirReads", compared)
	})
}

func (c *clinic) compareTable(compared map[string]int) {
	c.t.Helper()
	var user struct {
		Team string `json:"team_id"`
	}
	c.Get("/v2/user/"+c.user, &user)
	c.Expect(200, "POST", "/v1/org/"+user.Team+"/team/"+user.Team+"/sandbox/continuous_query",
		`{"slug":"steps","title":"Steps","query":{"select":[{"group_key":"*"},{"func":"max","arg":{"activity":"steps"}}],`+
			`"group_by":[{"date_trunc":{"value":1,"unit":"day"},"arg":{"index":"activity"}}]}}`, nil)
	c.Expect(200, "POST", "/v2/summary/activity/"+c.user, pushBody("health_connect", `"stage":"daily"`, `[{"calendar_date":"2026-03-01","steps":100},{"calendar_date":"2026-03-02","steps":200}]`), nil)
	const kind = "continuous_query.result_table.changed"
	c.agreed(func(compared map[string]int) []string {
		var page struct { // the payload is a list, unlike that of all other types
			Events []struct {
				Type  string `json:"event_type"`
				Event struct{ Data json.RawMessage }
			}
		}
		c.Get("/v2/events?limit=1000", &page)
		var changes []struct{ Data map[string]any }
		for _, e := range page.Events {
			if e.Type == kind {
				if err := json.Unmarshal(e.Event.Data, &changes); err != nil {
					c.t.Fatal(err)
				}
			}
		}
		if len(changes) != 1 {
			return []string{kind + ": there is none"}
		}
		_, table := c.readAt("/aggregate/v1/user/" + c.user + "/continuous_query/steps/result_table")
		compared[kind]++
		if diff := cmp.Diff(changes[0].Data, table["table"]); diff != "" {
			return []string{kind + " (-event +read):\n" + diff}
		}
		return nil
	}, compared)
}

// compareEndpoint makes a receiver answer that it is gone, which disables its endpoint.
func (c *clinic) compareEndpoint(compared map[string]int) {
	c.t.Helper()
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
	c.t.Cleanup(gone.Close)
	var made struct{ ID string }
	c.Expect(200, "POST", "/v2/webhooks", fmt.Sprintf(`{"url":%q}`, gone.URL), &made)
	c.order("walk_in_test")
	const kind = "webhook.endpoint.disabled"
	e := c.eventOf(kind, func(e *feedEvent) bool { return e.Event.Data["endpoint_id"] == made.ID })
	_, read := c.readAt("/v2/webhooks/" + made.ID)
	if read["id"] != e.Event.Data["endpoint_id"] || read["disabled_reason"] != e.Event.Data["reason"] || read["disabled"] != true || read["state"] != "auto_off" {
		c.t.Errorf("%s: %v, the read is %v", kind, e.Event.Data, read)
	}
	compared[kind]++
}
