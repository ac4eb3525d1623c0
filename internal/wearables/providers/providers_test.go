package providers

import (
	"encoding/xml"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/platform/store/storetest"
)

// Reference 11 lists these and no others as live.
const live = `fitbit google_health garmin oura strava wahoo withings polar cronometer ultrahuman dexcom_v3 whoop_v2
	my_fitness_pal_v2 map_my_fitness runkeeper omron ihealth google_fit peloton zwift eight_sleep hammerhead dexcom
	my_fitness_pal beurer_api kardia renpho whoop abbott_libreview tandem_source freestyle_libre apple_health_kit
	health_connect samsung_health accuchek_ble contour_ble onetouch_ble beurer_ble omron_ble freestyle_libre_ble manual`

func TestCatalogueHasEveryProvider(t *testing.T) {
	want := strings.Fields(live)
	var got []string
	for _, p := range List() {
		got = append(got, p.Slug)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("slugs are\n%v\nwant\n%v", got, want)
	}
}

func TestCatalogueRows(t *testing.T) {
	auth := []AuthType{OAuth, TeamOAuth, SDK, Password, Email, App}
	kinds := []SourceType{AppSource, BLESource, DeviceSource, LabSource, TypedIn}
	slug := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, p := range List() {
		t.Run(p.Slug, func(t *testing.T) {
			if !slug.MatchString(p.Slug) || p.Name == "" || !strings.HasSuffix(p.Description, ".") {
				t.Errorf("slug, name or description is not right: %+v", p)
			}
			if p.AuthType != nil && !slices.Contains(auth, *p.AuthType) {
				t.Errorf("auth_type %q is not in the spec", *p.AuthType)
			}
			if !slices.Contains(kinds, p.SourceType) {
				t.Errorf("source_type %q is not known", p.SourceType)
			}
			if len(p.SupportedResources) == 0 || !slices.IsSorted(p.SupportedResources) || len(slices.Compact(slices.Clone(p.SupportedResources))) != len(p.SupportedResources) {
				t.Errorf("supported_resources must be some, sorted, without repetition: %v", p.SupportedResources)
			}
			for _, r := range p.SupportedResources {
				if !IsResource(r) {
					t.Errorf("resource %q is not in the spec", r)
				}
			}
		})
	}
}

func TestSportOfType(t *testing.T) {
	for _, p := range OfTypes([]string{string(BLESource)}) {
		if !strings.HasSuffix(p.Slug, "_ble") || !p.PushedByPhone() {
			t.Errorf("%s is no Bluetooth device read by a phone", p.Slug)
		}
	}
	if n := len(OfTypes([]string{string(BLESource)})); n != 6 {
		t.Errorf("%d Bluetooth providers, want 6", n)
	}
	for _, p := range OfTypes([]string{string(SDK)}) {
		if !p.PushedByPhone() {
			t.Errorf("%s is no sdk provider", p.Slug)
		}
	}
	if n := len(OfTypes([]string{string(SDK)})); n == 0 {
		t.Error("no provider by way of connecting")
	}
	if rows := OfTypes([]string{"telepathy"}); len(rows) != 0 {
		t.Errorf("unknown source type gave %d rows", len(rows))
	}
	if len(List()) != len(strings.Fields(live)) {
		t.Error("filtering changed the catalogue")
	}
}

func TestFind(t *testing.T) {
	if p, ok := Find("oura"); !ok || p.Name != "Oura" {
		t.Errorf("Find(oura) = %+v, %v", p, ok)
	}
	if _, ok := Find("Oura"); ok {
		t.Error("slugs are exact")
	}
	if p := FindOrName("gone_brand"); p.Name != "gone_brand" {
		t.Errorf("a provider that left the catalogue is called %q", p.Name)
	}
}

func TestLogoIsAPictureOfTheName(t *testing.T) {
	for _, p := range append(List(), Provider{Slug: "x", Name: `<&">`}, Provider{Slug: "", Name: ""}) {
		var svg struct {
			XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
			Label   string   `xml:"aria-label,attr"`
			Text    string   `xml:"text"`
		}
		if err := xml.Unmarshal(p.Logo(), &svg); err != nil {
			t.Fatalf("%s: %v", p.Slug, err)
		}
		if svg.Label != p.Name || svg.Text == "" || len([]rune(svg.Text)) > 2 {
			t.Errorf("%s: label %q, letters %q", p.Slug, svg.Label, svg.Text)
		}
	}
}

func TestLogoURLFollowsTheBaseURL(t *testing.T) {
	one, other := storetest.SQLite(t), storetest.SQLite(t)
	ServeLogos(one, "https://hale.example.org")
	if got := LogosOf(one).URL("oura"); got != "https://hale.example.org/static/providers/oura.svg" {
		t.Errorf("with a base URL: %s", got)
	}
	if got := LogosOf(other).URL("oura"); got != "/static/providers/oura.svg" {
		t.Errorf("the other database, without one: %s", got)
	}
}

func TestNewerVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"10.1", "9.6.3", true},
		{"9.6.3", "10.1", false},
		{"9.6", "9.6", false},
		{"9.6.1", "9.6", true},
		{"3.00", "2.30", true},
		{"2.30", "3.00", false},
		{"1", "", true},
		{"", "1", false},
		{"", "", false},
		{"v10", "v9", true},
		{"v9", "v10", false},
		{"V10", "v9", true},
		{"2.10b", "2.9", true},
		{"2.9", "2.10b", false},
		{"2.9b", "2.9", true},
		{"2.9b", "2.9a", true},
		{"2.10", "2.9b", true},
		{"Build 100", "Build 99", true},
		{"Build 99", "Build 100", false},
		{"12A405", "9B206", true},
		{"R123456789012345678901234567890", "R99999999999999999999", true},
		{"1.0", "beta", true},
		{"beta", "1.0", false},
		{"1.007", "1.6", true},
		{"1.6", "1.007", false},
	} {
		if IsNewerVersion(c.a, c.b) != c.want {
			t.Errorf("%q after %q: %v", c.a, c.b, !c.want)
		}
	}
}

// The order of versions is total: of two that differ one is the newer, and a version
// newer than that one is newer than both.
func TestTheOrderOfVersionsIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.StringMatching(`[vVb]?[0-9]{0,3}[ab .]?[0-9]{0,2}[.]?[0-9a]{0,2}`)
		a, b, c := version.Draw(t, "a"), version.Draw(t, "b"), version.Draw(t, "c")
		if a != b && IsNewerVersion(a, b) == IsNewerVersion(b, a) || IsNewerVersion(a, a) {
			t.Fatalf("%q and %q", a, b)
		}
		if IsNewerVersion(a, b) && IsNewerVersion(b, c) && !IsNewerVersion(a, c) {
			t.Fatalf("%q after %q after %q", a, b, c)
		}
	})
}

// Resources is the spec's list of what supported_resources may hold.
//
// Spec: Catalog provider, supported_resources.
var Resources = []string{
	"profile", "activity", "sleep", "body", "workouts", "workout_stream",
	"connection", "order", "result", "match_review", "appointment",
	"glucose", "heartrate", "hrv", "ige", "igg", "blood_oxygen", "blood_pressure", "cholesterol",
	"device", "device_legacy", "weight", "fat", "body_temperature", "body_temperature_delta",
	"meal", "water", "caffeine", "mindfulness_minutes", "steps", "calories_active", "distance",
	"floors_climbed", "respiratory_rate", "vo2_max", "calories_basal", "stress_level",
	"menstrual_cycle", "sleep_cycle", "electrocardiogram", "electrocardiogram_voltage",
	"afib_burden", "heart_rate_alert", "stand_hour", "stand_duration", "sleep_apnea_alert",
	"sleep_breathing_disturbance", "wheelchair_push", "forced_expiratory_volume_1",
	"forced_vital_capacity", "peak_expiratory_flow_rate", "inhaler_usage", "fall", "uv_exposure",
	"daylight_exposure", "handwashing", "basal_body_temperature", "heart_rate_recovery_one_minute",
	"body_mass_index", "lean_body_mass", "waist_circumference", "workout_distance",
	"workout_swimming_stroke", "workout_duration", "insulin_injection", "carbohydrates", "note",
	"sleep_stream", "hypnogram",
}

// IsResource reports whether the spec knows a resource by that name.
func IsResource(name string) bool { return slices.Contains(Resources, name) }
