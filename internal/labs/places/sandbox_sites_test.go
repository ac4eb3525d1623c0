package places

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// The 20,000 made-up sites are obviously fictional and never change.
func TestMadeUp(t *testing.T) {
	h := sha256.New()
	pretend := regexp.MustCompile(`^555-555-01\d\d$`)
	total, scheduled := 0, 0
	for _, lab := range MadeUpLabs() {
		sites := MadeUpSites(lab)
		total += len(sites)
		for i, s := range sites {
			middle, _ := Zip(s.ZIP)
			switch {
			case s.Lab != lab || s.Code != fmt.Sprintf("SBX%05d", i) || !s.Active || s.City == "":
				t.Fatalf("site %d of %s is %+v", i, lab, s)
			case !strings.HasSuffix(s.Name, "(sandbox)") || !pretend.MatchString(s.Phone) || !pretend.MatchString(s.Fax):
				t.Fatalf("%+v might be taken for a real one", s)
			case s.Miles(middle.Point) > 2.5 || s.TimeZone != middle.TimeZone:
				t.Fatalf("%+v is %v miles from its ZIP code", s, s.Miles(middle.Point))
			case lab == "sonora_quest" && (s.State != "AZ" || s.Capabilities&ScheduledByUs == 0):
				t.Fatalf("%+v: this lab works in Arizona alone and schedules everywhere", s)
			}
			if s.Capabilities&ScheduledByUs != 0 {
				scheduled++
			}
			hours, _ := json.Marshal(s.Hours)
			fmt.Fprintf(h, "%s|%s|%s|%s|%s|%.4f|%.4f|%d|%s\n", s.Lab, s.Code, s.Name, s.FirstLine, s.ZIP, s.Lat, s.Lng, s.Capabilities, hours)
		}
	}
	if total != 20_000 || scheduled < 5_000 {
		t.Errorf("%d sites, of which %d schedule", total, scheduled)
	}
	const want = "c8119dec5ae59a08"
	if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want {
		t.Errorf("the made-up sites changed: %s, want %s", got, want)
	}
}

// Sites are distributed like the population: many in a city, some elsewhere.
func TestMadeUpIsClustered(t *testing.T) {
	l := sandboxList("quest")
	for _, c := range []struct {
		zip         string
		least, most int
	}{
		{"85004", 30, 200}, {"10001", 100, 600}, {"60601", 60, 400}, {"54650", 1, 40}, {"59318", 0, 3},
	} {
		p, _ := Zip(c.zip)
		if n := l.index.search(p.Point, 25, 0, 0).total; n < c.least || n > c.most {
			t.Errorf("%d sites within 25 miles of %s, want %d to %d", n, c.zip, c.least, c.most)
		}
	}
	states := map[string]int{}
	for _, s := range MadeUpSites("quest") {
		states[s.State]++
	}
	if len(states) < 50 {
		t.Errorf("sites in %d states: %v", len(states), states)
	}
}

func TestMadeUpFind(t *testing.T) {
	l := sandboxList("sonora_quest")
	if s, err := l.made.findSite("SBX00999"); err != nil || s.Code != "SBX00999" {
		t.Errorf("found %+v, %v", s, err)
	}
	for _, code := range []string{"", "SBX", "SBX01000", "SBX0999", "sbx00999", "SBX-0001", "XYZ"} {
		if s, err := l.made.findSite(code); err == nil {
			t.Errorf("%q found %+v", code, s)
		}
	}
}
