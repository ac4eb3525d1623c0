package imports

import (
	"encoding/json"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// Report lists the data and the changes of an import: types and counts, never values.
type Report struct {
	Records   int64 `json:"records" doc:"Number of records in the file."`
	Mapped    int64 `json:"mapped" doc:"Number of records that became samples or summaries."`
	Skipped   int64 `json:"skipped" doc:"Number of records that were not used."`
	Copies    int64 `json:"copies" doc:"Number of records that the file has twice and that count once."`
	Workouts  int64 `json:"workouts"`
	Routes    int64 `json:"routes"`
	Days      int64 `json:"days" doc:"Number of days whose summaries were derived."`
	Damaged   int64 `json:"damaged" doc:"Number of places in the file that were not well formed."`
	Truncated bool  `json:"truncated" doc:"Whether the file ends in the middle. The records before the end were imported."`

	Created   int `json:"created" doc:"Samples and summaries that were new"`
	Updated   int `json:"updated" doc:"Samples and summaries that changed"`
	Unchanged int `json:"unchanged" doc:"Samples and summaries that were there already"`
	Rejected  int `json:"rejected" doc:"Samples and summaries that break a rule"`

	Resources  map[string]Counts           `json:"resources" doc:"Changes by resource."`
	Types      map[string]*files.TypeCount `json:"types" doc:"Content of the file, by the file's own names of types."`
	FirstLeft  map[string]files.LeftOut    `json:"first_skipped" doc:"First skipped record of each type: place and reason, never the value."`
	Rejections map[string]int              `json:"rejections" doc:"Number of rejected values by resource and rule."`
	Refused    map[string]files.Refused    `json:"first_rejected" doc:"First value that breaks each rule: time and source, never the value."`
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
