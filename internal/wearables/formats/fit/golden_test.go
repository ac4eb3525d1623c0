package fit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/files/filestest"
)

// fileOverview summarizes one file in few numbers.
type fileOverview struct {
	Provider   string                      `json:"provider,omitempty"`
	Types      map[string]*files.TypeCount `json:"types,omitempty"`
	Records    int64                       `json:"records"`
	Mapped     int64                       `json:"mapped"`
	Damaged    int64                       `json:"damaged,omitempty"`
	Truncated  bool                        `json:"truncated,omitempty"`
	Recordings []overviewPart              `json:"recordings,omitempty"`
	Series     map[string]int              `json:"series,omitempty"`
	Refused    string                      `json:"refused,omitempty"`
}

type overviewPart struct {
	Sport   string   `json:"sport"`
	Source  string   `json:"source"`
	Seconds int64    `json:"seconds"`
	Offset  int32    `json:"offset"`
	Metres  *float64 `json:"metres"`
	Kcal    *float64 `json:"kcal"`
	MeanBPM *float64 `json:"mean_bpm"`
	MaxBPM  *float64 `json:"max_bpm"`
	Moving  *float64 `json:"moving"`
	Moments int      `json:"moments"`
}

// readOverview reads a file without storing it.
func readOverview(t testing.TB, path string) fileOverview {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g := fileOverview{Series: map[string]int{}}
	if err := check(path, 0); err != nil {
		g.Refused = err.Error()
		return g
	}
	o := files.NewOutcome()
	parts, err := readChain(context.Background(), raw, o)
	if err != nil {
		g.Refused = err.Error()
	}
	for _, p := range parts {
		f, err := p.find(context.Background(), nil)
		if err != nil {
			g.Refused = err.Error()
			continue
		}
		g.Provider = f.provider
		for _, s := range f.series {
			g.Series[s.Resource] += s.Len()
		}
		for _, r := range f.recordings {
			g.Recordings = append(g.Recordings, overviewPart{
				Sport: r.Sport.Slug, Source: r.Source.Type, Seconds: (r.End - r.Start) / 1e6, Offset: r.Offset,
				Metres: r.Metres, Kcal: r.Kcal, MeanBPM: r.MeanBPM, MaxBPM: r.MaxBPM, Moving: r.Moving, Moments: len(r.Course),
			})
		}
	}
	g.Types, g.Records, g.Mapped, g.Damaged, g.Truncated = o.Types, o.Records, o.Mapped, o.Damaged, o.Truncated
	return g
}

// The golden file has the content of every public file, and the values that are stored.
func TestGoldenPublicFiles(t *testing.T) {
	all := map[string]fileOverview{}
	for _, name := range publicFiles(t) {
		all[strings.TrimSuffix(filepath.Base(name), ".fit")] = readOverview(t, name)
	}
	filestest.CompareGolden(t, "public.golden.json", all)
}
