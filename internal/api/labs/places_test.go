package labs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// placesCaller calls an API as a sandbox team. It has one imported site besides the
// generated ones of other labs.
type placesCaller struct {
	calltest.UserCaller
	labs map[string]catalogue.Lab
}

func newPlacesAPI(db *store.DB) *api.API {
	api.SetUpHuma()
	a := api.New(api.Deps{DB: db, BaseURL: "https://hale.example"})
	a.Add((&Handlers{API: a, Orders: orders.NewIndex(), Places: new(places.Directory)}).Routes()...)
	return a
}

func eachPlacesCaller(t *testing.T, fn func(d placesCaller)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := placesCaller{UserCaller: calltest.UserCaller{
			T: t, DB: db, Team: userstest.Team(t, db),
			API: newPlacesAPI(db),
		}, labs: map[string]catalogue.Lab{}}
		d.Key = d.NewKey(d.Team)
		err := db.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error {
			offered, err := catalogue.Load(t.Context(), tx, d.Team.ID)
			if err != nil {
				return err
			}
			for _, lab := range offered.Labs() {
				d.labs[lab.Slug] = lab
			}
			hours, _ := places.ParseHours("Mo 07:00-12:00,13:00-15:30; Tu-Su off")
			site := places.Site{
				Lab: "crl", Code: "PHX1", Name: "Example Draw Site", FirstLine: "1 Example Street", City: "Phoenix", State: "AZ", ZIP: "85004-0001",
				Point: places.Point{Lat: 33.5, Lng: -112.07}, TimeZone: "America/Phoenix", Active: true, Capabilities: places.Stat | places.ScheduledByUs,
			}
			far := site
			far.Code, far.Lat, far.Capabilities, far.Hours, far.Website, far.Phone = "PHX2", 33.65, 0, hours, "https://lab.example/phx2", "555-555-0100"
			_, err = places.ImportSites(store.AsSystem(t.Context()), tx, places.AllTeams, []places.Site{site, far}, false)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		fn(d)
	})
}

func (d placesCaller) get(path string, want int) (body string) {
	d.T.Helper()
	w := d.Do(http.MethodGet, path, "")
	if w.Code != want {
		d.T.Fatalf("%s was answered %d: %s", path, w.Code, w.Body)
	}
	return strings.TrimSpace(w.Body.String())
}

// The complete answer, field by field.
func TestPSCInfo(t *testing.T) {
	eachPlacesCaller(t, func(d placesCaller) {
		path := fmt.Sprintf("/v3/order/psc/info?zip_code=85004&lab_id=%d", d.labs["crl"].ID)
		const near = `{"metadata":{"name":"Example Draw Site","state":"AZ","city":"Phoenix","zip_code":"85004-0001","first_line":"1 Example Street",` +
			`"second_line":"","phone_number":"","fax_number":"","hours":null,"website":null},"distance":"3","site_code":"PHX1",` +
			`"supported_bill_types":["client_bill","patient_bill"],"location":{"lng":-112.07,"lat":33.5},` +
			`"capabilities":["stat","appointment_scheduling_via_junction"]}`
		const far = `{"metadata":{"name":"Example Draw Site","state":"AZ","city":"Phoenix","zip_code":"85004-0001","first_line":"1 Example Street",` +
			`"second_line":"","phone_number":"555-555-0100","fax_number":"","hours":{"monday":[{"open":"07:00","close":"12:00"},{"open":"13:00","close":"15:30"}],` +
			`"tuesday":[],"wednesday":[],"thursday":[],"friday":[],"saturday":[],"sunday":[]},"website":"https://lab.example/phx2"},"distance":"14",` +
			`"site_code":"PHX2","supported_bill_types":["client_bill","patient_bill"],"location":{"lng":-112.07,"lat":33.65},"capabilities":[]}`
		head := fmt.Sprintf(`{"lab_id":%d,"slug":"crl","patient_service_centers":[`, d.labs["crl"].ID)
		for query, want := range map[string]string{
			"":                   near + "," + far,
			"&radius=10":         near,
			"&capabilities=stat": near,
			"&capabilities=stat&capabilities=appointment_scheduling_with_lab":     "",
			"&capabilities=stat&capabilities=appointment_scheduling_via_junction": near,
		} {
			if diff := cmp.Diff(head+want+"]}", d.get(path+query, 200)); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
		}
		for _, zip := range []string{"09001", "00000", "59318"} { // military, of no region, without centers
			if got := d.get(strings.Replace(path, "85004", zip, 1), 200); got != head+"]}" {
				t.Errorf("%s: %s", zip, got)
			}
		}
	})
}

// With reference_compat, distances are numbers, as in the reference.
func TestPSCDistanceOfATeamWithReferenceCompat(t *testing.T) {
	eachPlacesCaller(t, func(d placesCaller) {
		path := fmt.Sprintf("/v3/order/psc/info?zip_code=85004&lab_id=%d", d.labs["crl"].ID)
		text := d.get(path, 200)
		team := d.Team
		team.Settings.ReferenceCompat = true
		if err := d.DB.Write(store.AsSystem(t.Context()), func(tx *store.Tx) error { return teams.Update(t.Context(), tx, team) }); err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer(`"distance":"3"`, `"distance":3`, `"distance":"14"`, `"distance":14`).Replace(text)
		if got := d.get(path, 200); got != want || got == text {
			t.Error(cmp.Diff(want, got))
		}
	})
}

// A requested lab has zero centers if the team has no such lab.
func TestAreaInfoOfALabThatTheTeamHasNot(t *testing.T) {
	eachPlacesCaller(t, func(d placesCaller) {
		production := d
		production.Team = teamIn(t, d.DB, teams.Production)
		production.Key = d.NewKey(production.Team)
		none := func(slug string) string {
			return fmt.Sprintf(`%q:{"patient_service_centers":{"within_radius":0,"radius":"25","capabilities":[],"appointment_with_vital":false},`+
				`"supported_bill_types":[],"lab_id":%d}`, slug, d.labs[slug].ID)
		}
		for query, want := range map[string]string{
			"":                          "",
			"&labs=quest":               none("quest"),
			"&lab=labcorp&labs=quest":   none("labcorp") + "," + none("quest"),
			"&lab=labcorp&labs=labcorp": none("labcorp"),
		} {
			got := production.get("/v3/order/area/info?zip_code=85004"+query, 200)
			if _, labs, _ := strings.Cut(got, `"central_labs":`); labs != "{"+want+"}}" {
				t.Errorf("%s: %s", query, got)
			}
		}
	})
}

// In sandbox, sites are generated. An answer has at most thirty, sorted by distance.
func TestPSCInfoInSandbox(t *testing.T) {
	eachPlacesCaller(t, func(d placesCaller) {
		var body struct {
			Slug   string `json:"slug"`
			Places []struct {
				Distance string `json:"distance"`
			} `json:"patient_service_centers"`
		}
		text := d.get(fmt.Sprintf("/v3/order/psc/info?zip_code=10001&lab_id=%d&radius=100", d.labs["quest"].ID), 200)
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		if body.Slug != "quest" || len(body.Places) != places.MostFound {
			t.Fatalf("%d places of %s", len(body.Places), body.Slug)
		}
		last := 0
		for _, p := range body.Places {
			var miles int
			if _, err := fmt.Sscanf(p.Distance, "%d", &miles); err != nil || miles < last {
				t.Errorf("%s miles after %d", p.Distance, last)
			}
			last = miles
		}
		production := d
		production.Team = teamIn(t, d.DB, teams.Production)
		production.Key = d.NewKey(production.Team)
		if got := production.get(fmt.Sprintf("/v3/order/psc/info?zip_code=10001&lab_id=%d", d.labs["quest"].ID), 404); got != `{"code":"not_found","detail":"Lab not found."}` {
			t.Errorf("a team in production, without labs: %s", got)
		}
	})
}

func teamIn(t *testing.T, db *store.DB, env teams.Environment) (team teams.Team) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	err := db.Write(ctx, func(tx *store.Tx) (err error) {
		team, err = teams.Create(ctx, tx, "Team", env)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return team
}

func TestPlacesRefusals(t *testing.T) {
	eachPlacesCaller(t, func(d placesCaller) {
		psc := fmt.Sprintf("/v3/order/psc/info?lab_id=%d&zip_code=", d.labs["quest"].ID)
		const area = "/v3/order/area/info?zip_code="
		one := func(kind, loc, msg, input string) string {
			return fmt.Sprintf(`{"code":"invalid_request","detail":[{"type":%q,"loc":["query",%s],"msg":%q,"input":%s}]}`, kind, loc, msg, input)
		}
		const (
			form     = `String should match pattern '^\\d{5}$'`
			radii    = "Input should be '10', '20', '25', '50' or '100'"
			canDo    = "Input should be 'stat', 'appointment_scheduling_via_junction' or 'appointment_scheduling_with_lab'"
			isLab    = "Input should be 'labcorp', 'quest', 'bioreference', 'sonora_quest', 'ussl', 'spiriplex', 'ayumetrix', 'us_biotek', 'manual', 'sanocardio', 'ihd', 'nexus', 'my_uti', 'crl' or 'mtl'"
			required = "Field required"
		)
		pattern := strings.ReplaceAll(form, `\\`, `\`)
		for _, c := range []struct {
			path   string
			status int
			want   string
		}{
			{psc + "8500", 422, one("string_pattern_mismatch", `"zip_code"`, pattern, `"8500"`)},
			{psc + "85004-1234", 422, one("string_pattern_mismatch", `"zip_code"`, pattern, `"85004-1234"`)},
			{"/v3/order/psc/info?lab_id=4", 422, one("missing", `"zip_code"`, required, "null")},
			{"/v3/order/psc/info?zip_code=85004", 422, one("missing", `"lab_id"`, required, "null")},
			{"/v3/order/psc/info?zip_code=85004&lab_id=x", 422, one("int_parsing", `"lab_id"`,
				"Input should be a valid integer, unable to parse string as an integer", `"x"`)},
			{psc + "85004&radius=30", 422, one("enum", `"radius"`, radii, `"30"`)},
			{psc + "85004&capabilities=stat&capabilities=fly", 422, one("enum", `"capabilities",1`, canDo, `"fly"`)},
			{psc + "85004&lab_account_id=x", 422, one("uuid_parsing", `"lab_account_id"`, "Input should be a valid UUID", `"x"`)},
			{psc + "85004&lab_account_id=019f0000-0000-7000-8000-000000000000", 404, `{"code":"unknown_lab_account","detail":"Lab account does not exist"}`},
			{"/v3/order/psc/info?zip_code=85004&lab_id=999999", 404, `{"code":"not_found","detail":"Lab not found."}`},
			{fmt.Sprintf("/v3/order/psc/info?zip_code=85004&lab_id=%d", d.labs["ussl"].ID), 404, `{"code":"not_found","detail":"Lab not supported for PSC info."}`},
			{area + "8500x", 422, one("string_pattern_mismatch", `"zip_code"`, pattern, `"8500x"`)},
			{"/v3/order/area/info", 422, one("missing", `"zip_code"`, required, "null")},
			{area + "85004&radius=5", 422, one("enum", `"radius"`, radii, `"5"`)},
			{area + "85004&labs=quest&labs=nolab", 422, one("enum", `"labs",1`, isLab, `"nolab"`)},
			{area + "85004&lab=nolab", 422, one("enum", `"lab"`, isLab, `"nolab"`)},
		} {
			got := strings.Replace(d.get(c.path, c.status), `"input":""`, `"input":null`, 1) // empty and null both mean that nothing was sent
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.path, diff)
			}
		}
	})
}

func TestAreaInfo(t *testing.T) {
	eachPlacesCaller(t, func(d placesCaller) {
		crl := fmt.Sprintf(`"crl":{"patient_service_centers":{"within_radius":%%d,"radius":%%q,"capabilities":%%s,"appointment_with_vital":%%v},`+
			`"supported_bill_types":["client_bill","patient_bill"],"lab_id":%d}`, d.labs["crl"].ID)
		both := `["stat","appointment_scheduling_via_junction"]`
		const ready = `{"zip_code":"85004","phlebotomy":{"is_served":true,"providers":[{"name":"getlabs","tier":["appointment-ready"],"service_types":["appointment-ready"]}]},"central_labs":{`
		for _, c := range []struct{ query, want string }{
			{"85004&labs=crl", ready + fmt.Sprintf(crl, 2, "25", both, true) + "}}"},
			{"85004&lab=crl&radius=10", ready + fmt.Sprintf(crl, 1, "10", both, true) + "}}"},
			{"54650&labs=crl", `{"zip_code":"54650","phlebotomy":{"is_served":true,"providers":[{"name":"phlebfinders","tier":["appointment-request"],` +
				`"service_types":["appointment-request"]}]},"central_labs":{` + fmt.Sprintf(crl, 0, "25", "[]", false) + "}}"},
			{"09001&labs=crl", `{"zip_code":"09001","phlebotomy":{"is_served":false,"providers":[]},"central_labs":{` + fmt.Sprintf(crl, 0, "25", "[]", false) + "}}"},
		} {
			if diff := cmp.Diff(c.want, d.get("/v3/order/area/info?zip_code="+c.query, 200)); diff != "" {
				t.Errorf("%s: %s", c.query, diff)
			}
		}
		var all areaInfoBody
		if err := json.Unmarshal([]byte(d.get("/v3/order/area/info?zip_code=85004", 200)), &all); err != nil {
			t.Fatal(err)
		}
		for slug, most := range map[string]int{"quest": 1000, "labcorp": 1000, "bioreference": 1000, "sonora_quest": 1000, "crl": 2} {
			if n := all.CentralLabs[slug].Centers.WithinRadius; n < 1 || n > most {
				t.Errorf("%d centers of %s", n, slug)
			}
		}
		if len(all.CentralLabs) != 5 { // labs without centers are omitted
			t.Errorf("labs: %v", all.CentralLabs)
		}
	})
}
