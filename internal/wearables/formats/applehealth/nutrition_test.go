package applehealth

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
)

func foodRecord(name, at, unit, value string) string {
	return fmt.Sprintf(`<Record type="%sDietary%s" sourceName="Diary" unit="%s" startDate="%s +0200" endDate="%[4]s +0200" value="%s"/>`,
		quantity, name, unit, at, value)
}

// The file has a breakfast of two foods, a lunch, and a glass of water, which is no meal.
func TestImportMeals(t *testing.T) {
	const breakfast, lunch, food = "2024-06-01 07:30:00", "2024-06-01 12:15:00", "</HealthData>"
	correlation := func(name string) string {
		return `<Correlation type="HKCorrelationTypeIdentifierFood" sourceName="Diary" startDate="` + breakfast + ` +0200" endDate="` + breakfast + ` +0200">` +
			`<MetadataEntry key="HKFoodType" value="` + name + `"/>` + foodRecord("Protein", breakfast, "g", "11") + `</Correlation>`
	}
	xml := opening +
		foodRecord("EnergyConsumed", breakfast, "kJ", "836.8") + foodRecord("EnergyConsumed", breakfast, "Cal", "120") + foodRecord("EnergyConsumed", lunch, "kcal", "640") +
		foodRecord("Carbohydrates", breakfast, "g", "40") + foodRecord("FatSaturated", lunch, "g", "3.5") + foodRecord("FatTotal", lunch, "g", "12") +
		foodRecord("Sodium", lunch, "g", "1.2") + foodRecord("VitaminD", lunch, "mcg", "4") + foodRecord("Copper", lunch, "mg", "0.5") + foodRecord("Iodine", lunch, "mg", "0.15") +
		foodRecord("Protein", breakfast, "g", "11") + foodRecord("Water", "2024-06-01 09:00:00", "mL", "250") +
		correlation("Oats &amp; milk") + correlation("Egg") + food
	name := saveFile(t, []byte(xml))
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		sink, user := createUser(t, db)
		o := importFile(t, files.Input{DB: db, Sink: sink, User: user, Path: name}, wearables.Historical)
		if o.Skipped() != 0 || o.Resources["meal"].Created != 2 || o.Resources["carbohydrates"].Created != 1 || len(o.Rejections) != 0 {
			t.Errorf("outcome %+v", o)
		}
		var got []string
		for _, doc := range removeRunFields(filestest.Summaries(t, db, user, "meal")) {
			for _, gone := range []string{"date", "source", "provider_id", "priority_id", "source_id", "source_app_id", "source_device_id"} {
				delete(doc, gone)
			}
			text, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(text))
		}
		want := []string{
			`{"calendar_date":"2024-06-01","data":{},"energy":{"unit":"kcal","value":320},"macros":{"carbs":40,"protein":11},"name":"Oats \u0026 milk, Egg","timestamp":"2024-06-01T05:30:00+00:00"}`,
			`{"calendar_date":"2024-06-01","data":{},"energy":{"unit":"kcal","value":640},"macros":{"fats":{"saturated":3.5,"total":12}},` +
				`"micros":{"minerals":{"sodium":1200},"trace_elements":{"copper":0.5,"iodine":150},"vitamins":{"vitamin_d":4}},"name":"","timestamp":"2024-06-01T10:15:00+00:00"}`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// The meals of the public export have the moments that a plain text search
// finds. The search takes every dietary record except water and caffeine, by
// source.
func TestMealsOfThePublicExport(t *testing.T) {
	text, err := os.ReadFile(testdata.Shared(t, "wearables/apple-health/hkimport-export.xml"))
	if err != nil {
		t.Fatal(err)
	}
	outside := regexp.MustCompile(`(?s)<Correlation .*?</Correlation>`).ReplaceAll(text, nil)
	record := regexp.MustCompile(`<Record type="HKQuantityTypeIdentifierDietary(\w+)" sourceName="([^"]*)"[^>]* startDate="([^"]*)"`)
	moments := map[string]bool{}
	for _, m := range record.FindAllSubmatch(outside, -1) {
		if kind := string(m[1]); kind != "Water" && kind != "Caffeine" {
			moments[string(m[2])+"|"+string(m[3])] = true
		}
	}
	g := gatherFile(t, "wearables/apple-health/hkimport-export.xml")
	if len(moments) == 0 || len(g.meals) != len(moments) {
		t.Errorf("%d meals, %d moments", len(g.meals), len(moments))
	}
	named := 0
	for _, m := range g.meals {
		if !strings.Contains(string(m.Body), `"name":""`) {
			named++
		}
	}
	if named == 0 {
		t.Error("no meal has the names of its foods, which are in correlations")
	}
}
