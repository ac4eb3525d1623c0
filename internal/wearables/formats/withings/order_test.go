package withings

import (
	"fmt"
	"reflect"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
	"hale/internal/wearables/formats/files/filestest"
)

// Files in any order and any repeats give the same stored data, and a repeat sends no
// event.
func TestTheOrderOfFilesDoesNotMatter(t *testing.T) {
	for name, c := range map[string]struct {
		resources []string
		files     [2]string
	}{
		"heights of ten years": {[]string{"profile"}, [2]string{tall(t, 1300000000, 182), tall(t, 1600000000, 160)}},
		"a night and its summary": {[]string{"sleep", "sleep_cycle"}, [2]string{
			testdata.Shared(t, "wearables/withings/sleep.json"), testdata.Shared(t, "wearables/withings/sleep_summary.json"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				var stored [2]map[string]any
				for i := range stored {
					bed := filestest.New(t, db)
					put := func() {
						t.Helper()
						for _, path := range []string{c.files[i], c.files[1-i]} {
							if _, err := bed.Import(Kind, path); err != nil {
								t.Fatal(err)
							}
						}
					}
					put()
					heard := bed.Events()
					stored[i] = map[string]any{}
					for _, resource := range c.resources {
						all := bed.Summaries(resource)
						for _, one := range all {
							for _, own := range []string{"id", "user_id", "sleep_id", "created_at", "updated_at"} {
								delete(one, own)
							}
						}
						stored[i][resource] = all
					}
					put()
					if again := bed.Events(); !reflect.DeepEqual(again, heard) {
						t.Errorf("once %v, then %v", heard, again)
					}
				}
				for _, resource := range c.resources {
					a, b := stored[0][resource].([]map[string]any), stored[1][resource].([]map[string]any)
					if len(a) == 0 || len(a) != len(b) {
						t.Fatalf("%d and %d of %s", len(a), len(b), resource)
					}
					seen := map[any]map[string]any{}
					for i := range a {
						seen[keyOf(a[i])] = a[i]
					}
					for i := range b {
						if one := seen[keyOf(b[i])]; !reflect.DeepEqual(one, b[i]) {
							t.Errorf("%s is %v\nand the other way round %v", resource, one, b[i])
						}
					}
				}
			})
		})
	}
}

// tall returns a file with one height.
func tall(t *testing.T, at, cm int) string {
	return filestest.Save(t, fmt.Appendf(nil, `{"status":0,"body":{"timezone":"Europe/Paris","measuregrps":[
		{"grpid":1,"attrib":0,"date":%d,"category":1,"measures":[{"value":%d,"type":4,"unit":-2}]}]}}`, at, cm))
}

func keyOf(s map[string]any) any {
	if start := s["bedtime_start"]; start != nil {
		return start
	}
	return s["session_start"]
}
