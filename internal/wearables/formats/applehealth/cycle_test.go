package applehealth

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
)

// cycleRecord returns a record of a cycle's diary. metadata has keys and values in turn.
func cycleRecord(kind, day, value string, metadata ...string) string {
	at := day + " 12:00:00 +0200"
	text := fmt.Sprintf(`<Record type="%s" sourceName="Health" startDate="%s" endDate="%s" value="HKCategoryValue%s">`, category+kind, at, at, value)
	for i := 0; i < len(metadata); i += 2 {
		text += fmt.Sprintf(`<MetadataEntry key="%s" value="%s"/>`, metadata[i], metadata[i+1])
	}
	return text + "</Record>\n"
}

// twoCycles has an entry before the first period, a cycle of 28 days and an unfinished
// one.
var twoCycles = []string{
	cycleRecord("SexualActivity", "2024-05-01", "NotApplicable"),
	cycleRecord("MenstrualFlow", "2024-05-03", "MenstrualFlowLight", "HKMenstrualCycleStart", "1"),
	cycleRecord("MenstrualFlow", "2024-05-04", "VaginalBleedingHeavy", "HKMenstrualCycleStart", "0"),
	cycleRecord("MenstrualFlow", "2024-05-06", "MenstrualFlowUnspecified", "HKMenstrualCycleStart", "0"),
	cycleRecord("MenstrualFlow", "2024-05-07", "MenstrualFlowNone", "HKMenstrualCycleStart", "0"),
	cycleRecord("CervicalMucusQuality", "2024-05-14", "CervicalMucusQualityEggWhite"),
	cycleRecord("OvulationTestResult", "2024-05-16", "OvulationTestResultLuteinizingHormoneSurge"),
	cycleRecord("SexualActivity", "2024-05-16", "NotApplicable", "HKSexualActivityProtectionUsed", "1"),
	cycleRecord("IntermenstrualBleeding", "2024-05-20", "NotApplicable"),
	cycleRecord("MenstrualFlow", "2024-05-31", "MenstrualFlowMedium"),
	cycleRecord("PregnancyTestResult", "2024-06-02", "PregnancyTestResultNegative"),
	cycleRecord("Contraceptive", "2024-06-02", "ContraceptiveIntrauterineDevice"),
	cycleRecord("InfrequentMenstrualCycles", "2024-06-03", "NotApplicable"),
	cycleRecord("CervicalMucusQuality", "2024-06-04", "CervicalMucusQualityUnheardOf"),
}

const basalTemperatureRecord = `<Record type="HKQuantityTypeIdentifierBasalBodyTemperature" sourceName="Health" unit="degC" startDate="2024-05-17 07:00:00 +0200" endDate="2024-05-17 07:00:00 +0200" value="36.7"/>` + "\n"

func TestImportCycles(t *testing.T) {
	name := saveFile(t, []byte(opening+basalTemperatureRecord+strings.Join(twoCycles, "")+"</HealthData>"))
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		sink, user := createUser(t, db)
		o := importFile(t, files.Input{DB: db, Sink: sink, User: user, Path: name}, wearables.Historical)
		if o.Records != 15 || o.Mapped != 13 || o.Types["SexualActivity"].Unpaired != 1 || o.Types["CervicalMucusQuality"].BadValue != 1 {
			t.Errorf("%d of %d, %+v", o.Mapped, o.Records, o.FirstLeft())
		}
		if left := o.FirstLeft()["SexualActivity"]; left != (files.LeftOut{Record: 1, Reason: "unpaired"}) {
			t.Errorf("the first that was left out: %+v", left)
		}
		all := filestest.Summaries(t, db, user, "menstrual_cycle")
		slices.SortFunc(all, func(a, b map[string]any) int {
			return strings.Compare(a["period_start"].(string), b["period_start"].(string))
		})
		if len(all) != 2 {
			t.Fatalf("%d cycles", len(all))
		}
		for i, want := range []map[string]string{
			{
				"period_start": `"2024-05-03"`, "period_end": `"2024-05-06"`, "cycle_end": `"2024-05-30"`, "is_predicted": `false`,
				"menstrual_flow": `[{"date":"2024-05-03","flow":"light"},{"date":"2024-05-04","flow":"heavy"},{"date":"2024-05-06","flow":"unspecified"},{"date":"2024-05-07","flow":"none"}]`,
				"cervical_mucus": `[{"date":"2024-05-14","quality":"egg_white"}]`, "intermenstrual_bleeding": `[{"date":"2024-05-20"}]`,
				"ovulation_test":  `[{"date":"2024-05-16","test_result":"luteinizing_hormone_surge"}]`,
				"sexual_activity": `[{"date":"2024-05-16","protection_used":true}]`, "basal_body_temperature": `[{"date":"2024-05-17","value":36.7}]`,
			},
			{
				"period_start": `"2024-05-31"`, "period_end": `"2024-05-31"`, "cycle_end": `null`,
				"home_pregnancy_test": `[{"date":"2024-06-02","test_result":"negative"}]`, "contraceptive": `[{"date":"2024-06-02","type":"iud"}]`,
				"detected_deviations": `[{"date":"2024-06-03","deviation":"infrequent_menstrual_cycles"}]`, "ovulation_test": `[]`,
			},
		} {
			for field, value := range want {
				if got, _ := json.Marshal(all[i][field]); string(got) != value {
					t.Errorf("cycle %d: %s = %s, want %s", i, field, got, value)
				}
			}
		}
	})
}

// The order of the records does not affect the cycles: exports are sorted by type.
func TestCyclesInAnyOrder(t *testing.T) {
	read := func(records []string) []wearables.Summary {
		g, err := gather(t, strings.NewReader(opening+strings.Join(records, "")+"</HealthData>"))
		if err != nil {
			t.Fatal(err)
		}
		return g.cycles
	}
	want := read(twoCycles)
	for range 20 {
		mixed := slices.Clone(twoCycles)
		rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		got := read(append(mixed, mixed...)) // and twice
		if !slices.EqualFunc(got, want, func(a, b wearables.Summary) bool { return a.Key == b.Key && string(a.Body) == string(b.Body) }) {
			t.Fatalf("%+v\nwant %+v", got, want)
		}
	}
}

func TestElementsWithoutAParentAreCounted(t *testing.T) {
	g, err := gather(t, strings.NewReader(opening+
		`<ClinicalRecord type="HKClinicalTypeIdentifierImmunizationRecord" identifier="1" sourceName="A clinic" fhirVersion="4.0.1" resourceFilePath="/clinical-records/a.json"/>
		<ClinicalRecord type="HKClinicalTypeIdentifierImmunizationRecord" identifier="2" sourceName="A clinic"/>
		<ClinicalRecord type="&lt;a name&gt;"/>
		<Audiogram startDate="2024-05-01 12:00:00 +0200"><SensitivityPoint/></Audiogram></HealthData>`))
	if err != nil || g.report.Records != 4 || g.report.Mapped != 0 {
		t.Fatalf("%+v, %v", g.report, err)
	}
	counts := map[string]int64{}
	for name, c := range g.report.Types {
		counts[name] = c.Skipped
	}
	if want := map[string]int64{"ClinicalRecordImmunizationRecord": 2, "ClinicalRecordother": 1, "Audiogram": 1}; !maps.Equal(counts, want) {
		t.Errorf("%v, want %v", counts, want)
	}
}

// The place of a thermometer is one of eleven words, or unknown.
func TestThermometers(t *testing.T) {
	for location, want := range map[string]string{"1": "armpit", "6": "mouth", "9": "eardrum", " 11 ": "forehead", "0": "", "12": "", "x": ""} {
		entry := `><MetadataEntry key="HKBodyTemperatureSensorLocation" value="` + location + `"/></Record>`
		g, err := gather(t, strings.NewReader(opening+
			record(quantity+"BodyTemperature", "degC", "36.8", entry)+
			strings.Replace(record(quantity+"BodyTemperature", "degC", "36.9", "/>"), "10:00:00", "10:05:00", 1)+
			strings.Replace(record(quantity+"HeartRate", "count/min", "61", entry), "10:00:00", "10:06:00", 1)+"</HealthData>"))
		if err != nil {
			t.Fatal(err)
		}
		words := map[float64]string{}
		for _, s := range g.samples {
			for _, v := range s.Value {
				words[v] = s.Extra
			}
		}
		if want := map[float64]string{36.8: want, 36.9: "", 61: ""}; !maps.Equal(words, want) {
			t.Errorf("%q: %v, want %v", location, words, want)
		}
	}
}

func TestInsulin(t *testing.T) {
	insulinRecord := func(reason string) string {
		return `<Record type="HKQuantityTypeIdentifierInsulinDelivery" sourceName="Pump" unit="IU" value="4.5" startDate="2024-05-01 12:0` + reason + `:00 +0200" endDate="2024-05-01 12:0` + reason + `:00 +0200">` +
			`<MetadataEntry key="HKInsulinDeliveryReason" value="` + reason + `"/></Record>`
	}
	g, err := gather(t, strings.NewReader(opening+insulinRecord("1")+insulinRecord("2")+"</HealthData>"))
	if err != nil || len(g.samples) != 2 {
		t.Fatalf("%+v, %v", g.samples, err)
	}
	byType := map[string]float64{}
	for _, s := range g.samples {
		byType[s.Type+" "+s.Extra] = s.Value[0]
	}
	if want := map[string]float64{" basal,,": 4.5, "rapid_acting bolus,,": 4.5}; !maps.Equal(byType, want) {
		t.Errorf("%v", byType)
	}
}
