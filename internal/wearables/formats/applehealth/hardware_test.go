package applehealth

import (
	"reflect"
	"strings"
	"testing"

	"hale/internal/wearables/formats/files"
)

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
