package results

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
)

// A time of a report after its arrival decides nothing: the later arrival counts. A
// report with such a time, and a time of collection that it brings, are in doubt.
func TestTimesAfterTheArrival(t *testing.T) {
	future, utc := day.AddDate(9, 0, 0), 0
	say := func(minute int, value, status string, reported, sent time.Time) Report {
		r := Report{At: reported, Sent: sent, Received: day.Add(time.Duration(minute) * time.Minute), id: uuid.Must(uuid.NewV7())}
		r.Set.Corrected = status == "C"
		r.Set.Specimen = networks.Specimen{Number: "S1", Reported: networks.Moment{Time: reported, Offset: &utc}}
		if reported.IsZero() {
			r.At, r.Set.Specimen.Reported = sent, networks.Moment{}
		}
		r.Set.Results = []networks.Result{{ProviderID: "K", Value: strings.TrimRight(value, "H"), Status: status, Flag: value[len(strings.TrimRight(value, "H")):]}}
		return r
	}
	before := day.Add(-time.Hour)
	for name, c := range map[string]struct {
		first, second Report
		want          string
	}{
		"the report":         {say(1, "4.8", "F", future, future), say(2, "7.9HH", "F", before, before), "7.9 was 4.8; 1 warnings"},
		"the message":        {say(1, "4.8", "F", time.Time{}, future), say(2, "7.9HH", "F", before, before), "7.9 was 4.8; 1 warnings"},
		"six hours":          {say(1, "4.8", "F", day.Add(6*time.Hour), day.Add(6*time.Hour)), say(2, "7.9HH", "F", before, before), "7.9 was 4.8; 1 warnings"},
		"two corrections":    {say(1, "4.8", "C", future, future), say(2, "7.9HH", "C", before, before), "7.9 was 4.8; 1 warnings"},
		"both ahead":         {say(1, "4.8", "F", future.AddDate(1, 0, 0), future), say(2, "7.9HH", "F", future, future), "7.9 was 4.8; 2 warnings"},
		"a few minutes":      {say(1, "4.8", "F", day.Add(4*time.Minute), day), say(2, "7.9HH", "F", day.Add(5*time.Minute), day), "7.9 was 4.8; 0 warnings"},
		"only the last one":  {say(1, "4.8", "F", before, before), say(2, "7.9HH", "F", future, future), "7.9 was 4.8; 1 warnings"},
		"arrived in reverse": {say(2, "7.9HH", "F", day, day), say(1, "4.8", "F", before, before), "7.9 was 4.8; 0 warnings"},
	} {
		for _, all := range [][]Report{{c.first, c.second}, {c.second, c.first}} {
			e, all := threeOwed(), slices.Clone(all)
			setOrder(all)
			e.setKeys(all)
			v := buildVersion(e, merge(all, "S1"))
			got := v.Results[0].Text
			if p := v.Results[0].Previous; p != nil {
				got += " was " + p.Text
			}
			if got = fmt.Sprintf("%s; %d warnings", got, len(v.Warnings)); got != c.want || len(v.Results) != 1 {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}

	r := say(1, "4.8", "F", future, future)
	r.Set.Specimen.Collected = networks.Moment{Time: future.Add(-time.Hour), Offset: &utc}
	v := buildVersion(threeOwed(), merge([]Report{r}, "S1"))
	if s := v.Samples[0].Specimen; !s.Collected.Time.IsZero() || !s.Reported.Time.IsZero() || len(v.Warnings) != 2 || v.Warnings[1].Code != CollectedAfterReceipt {
		t.Errorf("%+v %+v", s, v.Warnings)
	}
}

// A time of observation after the arrival says nothing about which value is newer.
func TestObservationsAfterTheArrival(t *testing.T) {
	utc, after := 0, func(minutes int) time.Time { return day.Add(time.Duration(minutes) * time.Minute) }
	say := func(minute int, status, value string, observed int) Report {
		r := Report{At: after(minute), Sent: after(minute), Received: after(minute), id: uuid.Must(uuid.NewV7())}
		r.Set.Corrected = status == "C"
		number := strings.TrimRight(value, "H")
		r.Set.Results = []networks.Result{{ProviderID: "K", Value: number, Status: status, Flag: value[len(number):], At: networks.Moment{Time: after(observed), Offset: &utc}}}
		return r
	}
	const twoDays = 2 * 24 * 60
	local := say(10, "F", "6.8HH", 60)
	local.Set.Results[0].At.Offset = nil
	for name, c := range map[string]struct {
		reports []Report
		want    string
	}{
		"two days ahead":                    {[]Report{say(10, "F", "6.8HH", twoDays), say(60, "C", "4.8", 5)}, "4.8 corrected was 6.8"},
		"twenty minutes ahead":              {[]Report{say(10, "F", "6.8HH", 30), say(60, "C", "4.8", 5)}, "4.8 corrected was 6.8"},
		"after the arrival of the later":    {[]Report{say(10, "F", "6.8HH", 14), say(12, "C", "4.8", 5)}, "4.8 corrected was 6.8"},
		"a few minutes ahead":               {[]Report{say(10, "F", "6.8HH", 14), say(60, "C", "4.8", 5)}, "6.8 final was 4.8"},
		"before the arrival":                {[]Report{say(10, "F", "6.8HH", 8), say(60, "C", "4.8", 5)}, "6.8 final was 4.8"},
		"a later value after a correction":  {[]Report{say(10, "C", "4.8", 5), say(60, "F", "6.8HH", 55)}, "6.8 corrected was 4.8"},
		"a correction two days ahead":       {[]Report{say(10, "F", "6.8HH", 8), say(60, "C", "4.8", twoDays)}, "4.8 corrected was 6.8"},
		"a local time":                      {[]Report{local, say(60, "C", "4.8", 5)}, "6.8 final was 4.8"},
		"sent again after the other report": {[]Report{say(10, "F", "6.8HH", twoDays), say(60, "C", "4.8", 5), say(70, "F", "6.8HH", twoDays)}, "6.8 corrected was 4.8"},
	} {
		for range 2 {
			e, all := threeOwed(), slices.Clone(c.reports)
			setOrder(all)
			e.setKeys(all)
			var got []string
			for _, r := range buildVersion(e, merge(all, "S1")).Results {
				text := r.Text + " " + string(r.Finality)
				if r.Previous != nil {
					text += " was " + r.Previous.Text
				}
				got = append(got, text)
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("%s: %s, want %s", name, text, c.want)
			}
			slices.Reverse(c.reports)
		}
	}
}

// A critical value raises a notice even if it arrives after the value that
// replaces it, unless that value corrects it.
func TestCriticalValueThatWasReplaced(t *testing.T) {
	version := func(status string, previous *Previous) *Revision {
		return &Revision{Version: Version{Results: []Result{{ProviderID: "K", Text: "4.8", Status: status, Interpretation: orders.Normal, Previous: previous}}}}
	}
	high := &Previous{Text: "7.9", Interpretation: orders.Critical}
	shown := &Revision{Version: Version{Results: []Result{{ProviderID: "K", Text: "7.9", Interpretation: orders.Critical}}}}
	for name, c := range map[string]struct {
		now, before *Revision
		want        bool
	}{
		"arrived late":            {version("F", high), version("F", nil), true},
		"arrived late, corrected": {version("C", high), version("C", nil), false},
		"repeated":                {version("F", high), version("F", high), false},
		"was shown before":        {version("F", high), shown, false},
		"not critical":            {version("F", &Previous{Text: "4.7", Interpretation: orders.Normal}), version("F", nil), false},
	} {
		if got := c.now.hasNewCritical(c.before); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
