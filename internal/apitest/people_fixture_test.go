package apitest

import (
	"context"
	"testing"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
)

const (
	someAddress = `"address":{"first_line":"1 Example Street","second_line":null,"city":"Phoenix","state":"AZ","zip":"85004","country":"US"}`
	someContact = `"email":"person@example.com","phone_number":"+14155550123","gender":"female","dob":"1984-05-17"`
	somePerson  = `"first_name":"Given","last_name":"Family",` + someContact + `,` + someAddress
	someInfo    = `{` + somePerson + `}`

	someInsurance = `{"payor_code":"MEDFED","member_id":"member","group_id":null,"relationship":"Self","is_primary":true,"insured":{` + somePerson + `}}`

	somePayor = `{"name":"Example Mutual","address":{"first_line":"5 Insurer Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"}}`

	someExport = `<?xml version="1.0"?><HealthData locale="en_US"><ExportDate value="2026-03-01 12:00:00 +0000"/></HealthData>`

	somePush = `{"stage":"daily","provider":"apple_health_kit","data":[
		{"timestamp":"2026-03-01T12:00:00Z","value":61,"unit":"bpm","source_type":"watch"}]}`
)

// person makes a user who told everything of themselves, with a watch and an
// uploaded export.
func (s *service) person(t *testing.T, f *fixture) {
	t.Helper()
	f.ids["client_user_id"] = somebody()
	user := s.make(t, "POST", "/v2/user", `{"client_user_id":"`+f.ids["client_user_id"]+`"}`)
	f.ids["user_id"], f.ids["team_id"] = user["user_id"].(string), user["team_id"].(string)
	base := "/v2/user/" + f.ids["user_id"]
	s.make(t, "PATCH", base+"/info", someInfo)
	f.ids["payor_code"] = s.field(t, "POST", "/v3/payor", somePayor, "payor_code")
	s.make(t, "POST", base+"/insurance", someInsurance)
	f.ids["device_id"] = s.device(t, f)
	if s.serves("POST /v2/user/{user_id}/imports") {
		f.ids["import_id"] = s.upload(t, base)
	}
}

// device makes a connection with a device, as an import does.
func (s *service) device(t *testing.T, f *fixture) string {
	t.Helper()
	team, id := ids.MustParse[teams.Team](f.ids["team_id"]), ids.MustParse[users.User](f.ids["user_id"])
	var device connections.DeviceID
	s.write(t, func(ctx context.Context, tx *store.Tx) error {
		user, err := users.Get(ctx, tx, team, id)
		if err != nil {
			return err
		}
		if err := connections.Ensure(ctx, tx, user, "apple_health_kit", []string{"heartrate"}); err != nil {
			return err
		}
		device, err = connections.EnsureDevice(ctx, tx, user, connections.Device{
			Provider: "apple_health_kit", SourceType: "watch", AppID: "com.example.health", Manufacturer: "Example", Model: "Watch7,1",
		})
		return err
	})
	return device.String()
}

// sessions pushes a heart rate, a night's sleep and a workout.
func (s *service) sessions(t *testing.T, f *fixture) {
	t.Helper()
	push := func(path, data string) {
		s.make(t, "POST", path, `{"stage":"daily","provider":"apple_health_kit","data":[`+data+`]}`)
	}
	find := func(resource string) string {
		var all map[string][]struct{ ID string }
		s.get(t, "/v2/summary/"+resource+"/"+f.ids["user_id"]+"?start_date=2026-01-01", &all)
		if len(all[resource]) != 1 {
			t.Fatalf("pushed one of %s and found %v", resource, all)
		}
		return all[resource][0].ID
	}
	s.make(t, "POST", "/v2/timeseries/"+f.ids["user_id"]+"/heartrate", somePush)
	push("/v2/summary/sleep/"+f.ids["user_id"], `{"bedtime_start":"2026-02-01T22:00:00Z","bedtime_stop":"2026-02-02T06:00:00Z","duration":28800,"source_type":"watch"}`)
	push("/v2/summary/workouts/"+f.ids["user_id"], `{"time_start":"2026-02-01T10:00:00Z","time_end":"2026-02-01T11:00:00Z","source_type":"watch"}`)
	push("/v2/summary/profile/"+f.ids["user_id"], `{"height":178}`)
	f.ids["sleep_id"], f.ids["workout_id"] = find("sleep"), find("workouts")
}

// upload imports a file and waits for the end of the import and of its job, so
// that what a test looks at afterwards stands still.
func (s *service) upload(t *testing.T, base string) string {
	t.Helper()
	id := s.field(t, "POST", base+"/imports?kind=apple_health", someExport, "id")
	s.ended(t, base+"/imports/"+id)
	s.ended(t, "/v2/jobs/"+id)
	return id
}

// ended waits for a job, an import or another run and returns how it ended.
func (s *service) ended(t *testing.T, path string) (status string) {
	t.Helper()
	await(t, path, func() bool {
		status = s.field(t, "GET", path, "", "status")
		return status != "queued" && status != "running"
	})
	return status
}

// write does what no request does.
func (s *service) write(t *testing.T, fn func(ctx context.Context, tx *store.Tx) error) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	if err := s.DB.Write(ctx, func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}
