package applehealth

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/xmlscan"
)

func TestDescribe(t *testing.T) {
	watch := "<<HKDevice: 0x282a45810>, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch2,4, software:4.3.1>"
	phone := "<<HKDevice: 0x282a45811>, name:iPhone, manufacturer:Apple, model:iPhone, hardware:iPhone14,5, software:17.4>"
	cases := []struct{ name, device, kind, app string }{
		{"Sam’s Apple\u00a0Watch", watch, "watch", "com.apple.health."},
		{"Sam's Apple Watch", watch, "watch", "com.apple.health."},
		{"Sam’s iPhone", phone, "phone", "com.apple.health."},
		{"Sam’s iPhone", "", "phone", "com.apple.health."},
		{"NJR Apple Watch", "", "watch", "healthkit.source.njr-apple-watch"},
		{"Health", "", "app", HealthApp},
		{"Santé", "", "app", HealthApp},
		{"Weigh & See", "<<HKDevice: 0x1>, name:Scale, manufacturer:Withings, model:Body+, hardware:5>", "scale", "healthkit.source.weigh-see"},
		{"Chest", "<<HKDevice: 0x1>, name:HRM-Dual, manufacturer:Garmin>", "chest_strap", "healthkit.source.chest"},
		{"MyFitnessPal", "", "unknown", "healthkit.source.myfitnesspal"},
		{"Monitoring", "<<HKDevice: 0x1>, name:Monitoring, model:x>", "unknown", "healthkit.source.monitoring"},
		{"健身", "", "unknown", "com.apple.health."},
		{"", "", "unknown", ""},
	}
	for _, c := range cases {
		got := describe(c.name, c.device)
		if got.Type != c.kind || !strings.HasPrefix(got.AppID, c.app) || (c.app == "") != (got.AppID == "") {
			t.Errorf("%q, %q: %s from %s, want %s from %s…", c.name, c.device, got.Type, got.AppID, c.kind, c.app)
		}
	}
	if describe("Sam’s Apple\u00a0Watch", watch) != describe("Sam's Apple Watch", watch) {
		t.Error("the spelling of a space or an apostrophe makes another source")
	}
	if strings.Contains(strings.ToLower(describe("Sam’s iPhone", phone).AppID), "sam") {
		t.Error("an app id holds the name of a person's device")
	}
}

func TestSources(t *testing.T) {
	s := newSources()
	device := func(pointer string) []byte {
		return []byte("&lt;&lt;HKDevice: " + pointer + "&gt;, name:Apple Watch, manufacturer:Apple Inc., hardware:Watch6,2, software:9&gt;")
	}
	a := s.of([]byte("Run &amp; Ride"), device("0x1"))
	if b := s.of([]byte("Run &amp; Ride"), device("0x2")); a != b {
		t.Error("another pointer is another source")
	}
	if s.list[a].Type != "watch" || s.list[a].AppID != "healthkit.source.run-ride" && !strings.HasPrefix(s.list[a].AppID, "com.apple.health.") {
		t.Errorf("%+v", s.list[a])
	}
	if m := s.manual(a); m == a || s.list[m].Type != "app" || s.list[m].AppID != s.list[a].AppID {
		t.Errorf("%+v", s.list[m])
	}
	for i := range 3 * maxSources {
		s.of([]byte(strings.Repeat("x", i%50)+string(rune('a'+i%26))+strings.Repeat("y", i/50)), nil)
	}
	if len(s.list) > maxSources+1 {
		t.Errorf("%d sources", len(s.list))
	}
}

func FuzzDevice(f *testing.F) {
	f.Add("Sam’s Watch", "<<HKDevice: 0x282a45810>, name:Apple Watch, manufacturer:Apple, model:Watch, hardware:Watch2,4, software:4.3.1>")
	f.Add("x", ", name:, model:, name:")
	f.Fuzz(func(t *testing.T, name, text string) {
		source := describe(xmlscan.Unescape([]byte(name)), xmlscan.Unescape([]byte(text)))
		if source.Type == "" || len(source.AppID) > 100 || !utf8.ValidString(source.AppID) {
			t.Fatalf("%+v", source)
		}
		if again := describe(xmlscan.Unescape([]byte(name)), xmlscan.Unescape([]byte(text))); again != source {
			t.Fatal("not the same twice")
		}
	})
}

func TestDevicesOfRecords(t *testing.T) {
	record := func(device string) string {
		return `<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Ann’s Watch" unit="count/min" value="61" device="` + device +
			`" startDate="2026-03-01 08:00:00 +0100" endDate="2026-03-01 08:00:00 +0100"/>`
	}
	text := `<HealthData>` +
		record(`&lt;&lt;HKDevice: 0x1&gt;, name:Ann’s Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:9.6.3&gt;`) +
		record(`&lt;&lt;HKDevice: 0x2&gt;, name:Ann’s Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10.1&gt;`) +
		record(`&lt;&lt;HKDevice: 0x3&gt;, name:Ann’s Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:9.7&gt;`) +
		record(`&lt;&lt;HKDevice: 0x4&gt;, name:Polar H10, manufacturer:Polar, model:H10, localIdentifier:77&gt;`) +
		record(``) + `</HealthData>`
	reader := NewReader(func(c *Chunk) error { c.Release(); return nil })
	if _, err := reader.Read(t.Context(), strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	want := []files.Device{
		{Provider: Provider, SourceType: "watch", Manufacturer: "Apple Inc.", Model: "Watch6,2", Version: "10.1"},
		{Provider: Provider, SourceType: "chest_strap", Manufacturer: "Polar", Model: "H10", ExternalID: "77"},
	}
	if got := reader.Devices(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
