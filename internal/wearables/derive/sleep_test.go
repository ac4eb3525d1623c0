package derive

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/ids"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/merged"
)

// night makes segments: minutes after 22:00 UTC on 30 June 2024, at +02:00.
func night(stage int8, from, to int) Segment {
	base := time.Date(2024, 6, 30, 22, 0, 0, 0, time.UTC)
	return Segment{
		Start: base.Add(time.Duration(from) * time.Minute).UnixMicro(),
		End:   base.Add(time.Duration(to) * time.Minute).UnixMicro(), Offset: 7200, Stage: stage,
	}
}

func TestSessions(t *testing.T) {
	cases := []struct {
		name     string
		source   string
		segments []Segment
		want     []int // minutes of each session
	}{
		{"one after another", "watch", []Segment{night(Light, 0, 60), night(Deep, 60, 90)}, []int{90}},
		{"a pause of half an hour", "watch", []Segment{night(Light, 0, 60), night(Light, 90, 100)}, []int{100}},
		{"a longer pause", "watch", []Segment{night(Light, 0, 60), night(Light, 91, 100)}, []int{60, 9}},
		{"a phone in bed pauses longer", "phone", []Segment{night(InBed, 0, 60), night(InBed, 180, 240)}, []int{240}},
		{"but not all night", "phone", []Segment{night(InBed, 0, 60), night(InBed, 181, 240)}, []int{60, 59}},
		{"a phone that knows stages does not", "phone", []Segment{night(InBed, 0, 60), night(Asleep, 100, 240)}, []int{60, 140}},
		{"a stage inside another", "watch", []Segment{night(InBed, 0, 400), night(Light, 10, 60), night(Light, 80, 300)}, []int{400}},
		{"more than a day is cut", "watch", []Segment{night(Asleep, 0, 1000), night(Asleep, 1000, 1500)}, []int{1000, 500}},
		{"nothing", "watch", nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			for _, s := range sessionsOf(source(c.source), c.segments) {
				got = append(got, int((s.End-s.Start)/secondUS/60))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v minutes, want %v", got, c.want)
			}
		})
	}
}

// A hypnogram has its stages in order, without overlap. Adjacent stages differ
// where they touch. The hypnogram covers exactly the time of the segments.
func TestHypnogramStagesAreConsecutive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Segment
		var covered []interval
		for range rapid.IntRange(1, 20).Draw(t, "segments") {
			from := rapid.IntRange(0, 400).Draw(t, "from")
			s := night(rapid.SampledFrom([]int8{Asleep, Deep, Light, REM, Awake}).Draw(t, "stage"), from, from+rapid.IntRange(1, 90).Draw(t, "length"))
			all = append(all, s)
			covered = append(covered, interval{Start: s.Start, End: s.End})
		}
		slices.SortFunc(all, func(a, b Segment) int { return int(a.Start - b.Start) })
		length := int64(0)
		for _, v := range merged.Union(covered) {
			length += v.End - v.Start
		}
		stages := hypnogram(all)
		for i, s := range stages {
			length -= s.End - s.Start
			if s.Start >= s.End {
				t.Fatalf("an empty stage: %+v", s)
			}
			if i > 0 && (s.Start < stages[i-1].End || s.Start == stages[i-1].End && s.Stage == stages[i-1].Stage) {
				t.Fatalf("%+v after %+v", s, stages[i-1])
			}
		}
		if length != 0 {
			t.Fatalf("%d seconds are missing or too many", length/secondUS)
		}
	})
}

func TestNamedStagesTakePrecedence(t *testing.T) {
	stages := hypnogram([]Segment{night(Asleep, 0, 100), night(Deep, 20, 40)})
	want := []Segment{night(Asleep, 0, 20), night(Deep, 20, 40), night(Asleep, 40, 100)}
	if !slices.Equal(stages, want) {
		t.Errorf("%+v", stages)
	}
}

func TestNight(t *testing.T) {
	watch, phone := source("watch"), source("phone")
	at := func(m int) time.Time { return time.UnixMicro(night(0, m, m).Start).UTC() }
	found := tracks{
		"heartrate": {series("heartrate", watch, time.UTC, sample{at(10), at(10), 50}, sample{at(100), at(100), 58.4}, sample{at(600), at(600), 99})},
		"hrv":       {series("hrv", watch, time.UTC, sample{at(50), at(50), 61.04})},
	}
	d := &Deriver{
		DB: storetest.SQLite(t), Provider: "apple_health_kit", User: users.User{ID: ids.FromUUID[users.User](uuid.Max)},
		Sleep: []*Sleeper{
			{Source: phone, Segments: []Segment{night(InBed, -15, 480)}},
			{Source: watch, Segments: []Segment{night(InBed, 0, 480), night(Light, 10, 200), night(Deep, 200, 260), night(REM, 260, 300), night(Awake, 300, 310), night(Light, 310, 470)}},
		},
	}
	day := civil.MustParse("2024-07-01")
	nights := func(day civil.Date) []wearables.Summary {
		all, err := d.nights(t.Context(), found, map[civil.Date]bool{day: true}, night(0, -3000, 0).Start, night(0, 3000, 0).Start)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := nights(day)
	if len(all) != 2 || all[0].Resource != "sleep" || all[1].Resource != "sleep_cycle" {
		t.Fatalf("%d summaries: the phone saw the same night with less", len(all))
	}
	want := `{"type":"long_sleep","timezone_offset":7200,"duration":28800,"total":27000,"awake":600,"light":21000,"rem":2400,"deep":3600,` +
		`"hr_lowest":50,"hr_average":54,"efficiency":93.8,"latency":600,"average_hrv":61,"respiratory_rate":null}`
	if string(all[0].Body) != want || all[0].Date != day || all[0].Source.Type != "watch" {
		t.Errorf("%s\nwant %s", all[0].Body, want)
	}
	var cycle struct {
		SleepID uuid.UUID `json:"sleep_id"`
		Types   []int     `json:"stage_type"`
		Starts  []int64   `json:"stage_start_offset_second"`
	}
	if err := json.Unmarshal(all[1].Body, &cycle); err != nil {
		t.Fatal(err)
	}
	if cycle.SleepID != wearables.SummaryID(uuid.Max, d.Provider, "sleep", all[0].Key) || !slices.Equal(cycle.Types, []int{2, 1, 3, 4, 2}) || cycle.Starts[0] != 600 {
		t.Errorf("%+v", cycle)
	}
	if other := nights(day.AddDays(1)); len(other) != 0 {
		t.Errorf("%d summaries on the day after waking", len(other))
	}
}

func TestTimeInBedWithoutStages(t *testing.T) {
	s := sessionOf(source("phone"), []Segment{night(InBed, 0, 120)})
	b := s.body()
	if b.Type != "short_sleep" || b.Duration != 7200 || b.Total != 0 || b.Awake != 0 || b.Efficiency != nil || b.Latency != nil {
		t.Errorf("%+v", b)
	}
}

func TestUnstagedSleep(t *testing.T) {
	s := sessionOf(source("unknown"), []Segment{night(InBed, 0, 500), night(Asleep, 20, 470)})
	b := s.body()
	if b.Total != 450*60 || b.Awake != 50*60 || *b.Latency != 1200 || *b.Efficiency != 90 {
		t.Errorf("%+v", b)
	}
}
