package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
)

// checkEvents validates all events of the team against the section webhooks of the
// document. It counts them by type.
func (s *service) checkEvents(t *testing.T) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for after, more := int64(0), true; more; {
		var page struct {
			Next   int64 `json:"next_after"`
			More   bool  `json:"has_more"`
			Events []struct {
				Type  string `json:"event_type"`
				Event json.RawMessage
			}
		}
		s.Get(fmt.Sprintf("/v2/events?limit=1000&after=%d", after), &page)
		after, more = page.Next, page.More
		for _, e := range page.Events {
			seen[e.Type]++
			shape := s.doc.webhooks[e.Type]
			value, err := decode(e.Event)
			if err == nil && shape == nil {
				err = fmt.Errorf("the document has no webhook %s", e.Type)
			}
			if err == nil {
				err = s.doc.validate(shape, value, e.Type)
			}
			if err != nil {
				t.Errorf("%v\nevent: %.1000s", err, e.Event)
			}
		}
	}
	return seen
}

// The document describes events and reads of data of every resource: with only the
// required fields, with each optional field alone, and with all fields.
func TestOptionalFieldsOfDataHaveTheirSchemas(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := start(t, d)
		f := s.fixture(t)
		zones := []string{``, `"time_zone":"Europe/Berlin",`}
		push := func(path, data string, variant int) {
			t.Helper()
			var got struct{ Rejected []any }
			body := fmt.Sprintf(`{"stage":"daily","provider":"apple_health_kit",%s"data":[%s]}`, zones[variant%2], data)
			s.Expect(http.StatusOK, "POST", path, body, &got)
			if len(got.Rejected) > 0 {
				t.Errorf("%s: %v of %s", path, got.Rejected, data)
			}
		}
		var users []string
		userOf := func(variant int) string {
			for len(users) <= variant {
				users = append(users, s.requestField(t, "POST", "/v2/user", `{"client_user_id":"`+newUserName()+`"}`, "user_id"))
			}
			return users[variant]
		}
		for _, r := range wearables.Resources() {
			if !r.Push && !r.Text {
				continue
			}
			for variant, one := range sampleVariants(&r, f.ids["device_id"]) {
				user := userOf(variant)
				if _, has := one["source_device_id"]; has {
					user = f.ids["user_id"]
				}
				push("/v2/timeseries/"+user+"/"+r.Name, jsonOf(t, one), variant)
			}
		}
		for name, text := range someSummaries {
			for variant, one := range summaryVariants(t, text) {
				push("/v2/summary/"+name+"/"+userOf(variant), jsonOf(t, one), variant)
			}
		}
		s.settle(t)
		seen := s.checkEvents(t)
		for _, r := range wearables.Resources() {
			if kind := "daily.data." + r.Event + ".created"; (r.Push || r.Text) && seen[kind] == 0 {
				t.Errorf("no event %s", kind)
			}
		}
		for name := range someSummaries {
			if kind := "daily.data." + name + ".created"; seen[kind] == 0 {
				t.Errorf("no event %s", kind)
			}
		}
		for _, user := range append(users, f.ids["user_id"]) {
			s.checkDataReads(t, user)
		}
	})
}

// checkDataReads validates the reads of a user's data against the document.
func (s *service) checkDataReads(t *testing.T, user string) {
	t.Helper()
	for _, o := range s.doc.operations {
		isData := strings.HasPrefix(o.Path, "/v2/timeseries/{user_id}/") || strings.HasPrefix(o.Path, "/v2/summary/")
		if o.Method != http.MethodGet || !isData {
			continue
		}
		resources := []string{""}
		if strings.Contains(o.Path, "{resource}") {
			resources = nil
			for _, r := range wearables.Resources() {
				if r.Push && (r.CanMerge() || !strings.HasSuffix(o.Path, "merged") && !strings.HasSuffix(o.Path, "daily")) {
					resources = append(resources, r.Name)
				}
			}
		}
		for _, resource := range resources {
			path := o.fill(map[string]string{"user_id": user, "resource": resource}) + "?start_date=2026-01-01&end_date=2026-12-31"
			status, body := s.Call("GET", path, "")
			if status == http.StatusNotFound && strings.HasPrefix(o.Path, "/v2/summary/profile/") {
				continue // this variant has no profile
			}
			if status != http.StatusOK {
				t.Errorf("%s was answered %d: %.300s", path, status, body)
				continue
			}
			if err := s.doc.check(o, status, "application/json", body); err != nil {
				t.Errorf("%s: %v\nanswer: %.1000s", path, err, body)
			}
		}
	}
}

// sampleVariants returns a sample with the required fields, one more for each optional
// field, and one with all fields.
func sampleVariants(r *wearables.Resource, device string) []map[string]any {
	at := time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)
	required := map[string]any{"timestamp": at.Format(time.RFC3339), "value": max(r.Min, min(60, r.Max))}
	optional := map[string]any{"source_type": "watch", "source_app_id": "com.example.health", "timezone_offset": 3600, "source_device_id": device}
	switch {
	case r.Text:
		required["value"], optional["tags"] = "before lunch", []string{r.Tags[0]}
		delete(optional, "source_device_id")
	case r.Pair:
		delete(required, "value")
		required["systolic"], required["diastolic"] = 120, 80
	}
	if r.Interval {
		required["end"] = at.Add(time.Hour).Format(time.RFC3339)
	}
	if !r.Text {
		optional["unit"] = r.Unit
	}
	kind := r.Example.Type
	if len(r.Types) > 0 {
		kind = r.Types[0]
	}
	if r.Typed && len(r.Types) > 0 {
		required["type"] = kind
	} else if kind != "" {
		optional["type"] = kind
	}
	for _, field := range r.Extra {
		if field.Example != "" {
			optional[field.Name] = field.Example
		}
	}
	return variants(required, optional)
}

// summaryVariants returns variants of the first of some summaries, with the further
// fields of the last one.
func summaryVariants(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	if err := json.Unmarshal([]byte("["+text+"]"), &all); err != nil {
		t.Fatal(err)
	}
	required, optional := all[0], map[string]any{"source_type": "phone"}
	for name, value := range all[len(all)-1] {
		if _, has := required[name]; !has {
			optional[name] = value
		}
	}
	return variants(required, optional)
}

func variants(required, optional map[string]any) []map[string]any {
	all := []map[string]any{required}
	whole := maps.Clone(required)
	for _, name := range slices.Sorted(maps.Keys(optional)) {
		one := maps.Clone(required)
		one[name], whole[name] = optional[name], optional[name]
		all = append(all, one)
	}
	return append(all, whole)
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
