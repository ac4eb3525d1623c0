package imports

import (
	"encoding/json"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// Report lists the data and the changes of an import: types and counts, never values.
type Report struct {
	Records   int64 `json:"records" doc:"Records in the file"`
	Mapped    int64 `json:"mapped" doc:"Records that became samples or facts"`
	Skipped   int64 `json:"skipped" doc:"Records that did not"`
	Copies    int64 `json:"copies" doc:"Records that the file has twice and that count once"`
	Workouts  int64 `json:"workouts"`
	Routes    int64 `json:"routes"`
	Days      int64 `json:"days" doc:"Days whose summaries were derived"`
	Damaged   int64 `json:"damaged" doc:"Places in the file that were not well formed"`
	Truncated bool  `json:"truncated" doc:"The file ends in the middle; what came before was kept"`

	Created   int `json:"created" doc:"Samples and summaries that were new"`
	Updated   int `json:"updated" doc:"Samples and summaries that changed"`
	Unchanged int `json:"unchanged" doc:"Samples and summaries that were there already"`
	Rejected  int `json:"rejected" doc:"Samples and summaries that break a rule"`

	Resources  map[string]Counts           `json:"resources" doc:"What changed, by resource"`
	Types      map[string]*files.TypeCount `json:"types" doc:"What was in the file, by the file's own names of types"`
	FirstLeft  map[string]files.LeftOut    `json:"first_skipped" doc:"The first record of each type that was left out: where and why, never what it says"`
	Rejections map[string]int              `json:"rejections" doc:"How many break which rule, as resource: rule"`
	Refused    map[string]files.Refused    `json:"first_rejected" doc:"The first value that breaks each of them: when it was measured and by what, never what it was"`
}

// Counts counts the values of one resource by outcome.
type Counts struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Rejected  int `json:"rejected"`
}

func countsOf(c wearables.Counts) Counts {
	return Counts{c.Created, c.Updated, c.Unchanged, c.Rejected}
}

func reportOf(o *files.Outcome) *Report {
	r := &Report{
		Records: o.Report.Records, Mapped: o.Mapped, Skipped: o.Skipped(), Copies: o.Copies,
		Workouts: o.Workouts, Routes: o.Routes, Days: int64(o.Days), Damaged: o.Damaged, Truncated: o.Truncated,
		Created: o.Created, Updated: o.Updated, Unchanged: o.Unchanged, Rejected: o.Rejected,
		Resources: map[string]Counts{}, Types: o.Types, FirstLeft: o.FirstLeft(), Rejections: o.Rejections,
		Refused: o.Refused,
	}
	for resource, c := range o.Resources {
		r.Resources[resource] = countsOf(c)
	}
	return r
}

// openReport parses a stored report. Fields that are newer than it are empty.
func openReport(stored []byte) (*Report, error) {
	var r Report
	if err := json.Unmarshal(stored, &r); err != nil {
		return nil, err
	}
	ensureMap(&r.Resources)
	ensureMap(&r.Types)
	ensureMap(&r.FirstLeft)
	ensureMap(&r.Rejections)
	ensureMap(&r.Refused)
	return &r, nil
}

// ensureMap creates a map if it is nil.
func ensureMap[V any](m *map[string]V) {
	if *m == nil {
		*m = map[string]V{}
	}
}
