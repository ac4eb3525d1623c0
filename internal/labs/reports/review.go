package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hale/internal/labs/critical"
	"hale/internal/labs/identity"
	"hale/internal/labs/labclock"
	"hale/internal/labs/loinc"
	"hale/internal/labs/orders"
	"hale/internal/labs/reports/extract"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Decision is a reviewer's decision about a report.
type Decision string

// The decisions.
const (
	Accept Decision = "accept" // the results, as corrected, are the user's
	Reject Decision = "reject" // the report has no results of the user
)

// Decisions lists the decisions.
var Decisions = []Decision{Accept, Reject}

// Review is a decision with the corrections of a reviewer.
type Review struct {
	Decision Decision
	// Reviewer names the person who decides.
	Reviewer string
	Note     string
	// Revision is the version of the results that the reviewer has seen; 0 accepts any.
	Revision    int
	Metadata    MetadataCorrection
	Corrections []Correction
	// ConfirmIdentity confirms that the report is about the user although its person
	// differs.
	ConfirmIdentity bool
}

// Correction changes, removes or adds a result. Absent fields stay.
type Correction struct {
	Row    *int     `json:"row,omitempty"` // nil adds a result
	Remove bool     `json:"remove,omitempty"`
	Name   *string  `json:"test_name,omitempty"`
	Value  *string  `json:"value,omitempty"`
	Units  *string  `json:"units,omitempty"`
	Range  *string  `json:"reference_range,omitempty"` // as printed
	Min    *float64 `json:"min_reference_range,omitempty"`
	Max    *float64 `json:"max_reference_range,omitempty"`
	// LOINC is a code of the table; empty text means no code.
	LOINC *string `json:"loinc_code,omitempty"`
}

// changes reports whether a correction changes a field of its row.
func (c *Correction) changes() bool {
	return c.Name != nil || c.Value != nil || c.Units != nil || c.Range != nil || c.Min != nil || c.Max != nil || c.LOINC != nil
}

// MetadataCorrection changes the description of a report. Absent fields stay.
type MetadataCorrection struct {
	FirstName, LastName, Lab, Specimen *string
	BirthDate, Collected, Reported     *civil.Date
}

// Change is one corrected field, for the history.
type Change struct {
	Row    *int   `json:"row,omitempty"` // nil for the description of the report
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// maxCorrections bounds the rows of a report after corrections.
const maxCorrections = 2000

// Decide stores a reviewer's decision about a job. A completed job can be decided again,
// and a rejected one can be accepted with the corrections that it has. The first reading
// and all earlier decisions remain as revisions.
func Decide(ctx context.Context, tx *store.Tx, team teams.ID, id ID, review Review) (Job, Revision, error) {
	j, err := Get(ctx, tx, team, id)
	if err != nil {
		return Job{}, Revision{}, err
	}
	from := j.Status
	reopened := from == Failed && j.Revision > 0 && review.Decision == Accept
	if from != PendingReview && from != Completed && !reopened {
		return Job{}, Revision{}, fault.New(fault.Conflict, "Only a job that waits for a reviewer or is completed can be reviewed; a rejected job can be accepted")
	}
	latest, err := Results(ctx, tx, &j)
	if err != nil {
		return Job{}, Revision{}, err
	}
	switch {
	case review.Revision != 0 && review.Revision != latest.Number:
		return Job{}, Revision{}, fault.Newf(fault.Conflict, "The results have revision %d now; read them again before you decide", latest.Number)
	case review.Revision == 0 && j.Reviewed: // perhaps at the same moment
		return Job{}, Revision{}, fault.Newf(fault.Conflict, "The report has a decision already; read it again, and send revision %d to decide once more", latest.Number)
	}
	v := latest.Version.clone()
	v.Author, v.Note, v.Decision, v.Changes, v.Confirmed = review.Reviewer, review.Note, review.Decision, nil, nil
	now := tx.Now()
	j.Reviewed, j.ReviewedBy, j.ReviewedAt, j.FinishedAt = true, review.Reviewer, &now, &now
	switch review.Decision {
	case Reject:
		if err := review.rejectsOnly(); err != nil {
			return Job{}, Revision{}, err
		}
		j.Status, j.Message = Failed, "A reviewer rejected the report."
		if err := critical.CloseReport(ctx, tx, j.Team, j.ID.UUID()); err != nil {
			return Job{}, Revision{}, err
		}
	case Accept:
		if err := v.correct(review); err != nil {
			return Job{}, Revision{}, err
		}
		labTime, err := labclock.TimeOf(ctx, tx, j.Team)
		if err != nil {
			return Job{}, Revision{}, err
		}
		if err := review.Metadata.checkDates(&v.Metadata, labTime); err != nil {
			return Job{}, Revision{}, err
		}
		if err := confirmPatient(ctx, tx, &j, &v, review.ConfirmIdentity); err != nil {
			return Job{}, Revision{}, err
		}
		v.trust()
		if _, err := findRepeats(ctx, tx, &j, &v); err != nil {
			return Job{}, Revision{}, err
		}
		j.Status, j.Message, j.Worst = Completed, "", v.worst()
		before := &latest.Version
		if reopened { // the rejection closed the notices
			before = nil
		}
		if err := raiseAlarm(ctx, tx, &j, before, &v); err != nil {
			return Job{}, Revision{}, err
		}
	default:
		return Job{}, Revision{}, fault.NotInEnum([]Decision{Accept, Reject}).At("body", "decision")
	}
	if err := addRevision(ctx, tx, &j, v); err != nil {
		return Job{}, Revision{}, err
	}
	if err := saveJob(ctx, tx, &j, from); err != nil {
		return Job{}, Revision{}, err
	}
	r := Revision{Number: j.Revision, CreatedAt: now, Version: v}
	return j, r, announce(ctx, tx, &j, &r, UpdatedEvent)
}

// confirmPatient compares the person on the corrected report with the user. A person who
// differs needs the reviewer's confirmation, which the version records.
func confirmPatient(ctx context.Context, tx *store.Tx, j *Job, v *Version, confirmed bool) error {
	who, err := ComparePatient(ctx, tx, j, &v.Metadata)
	if err != nil {
		return err
	}
	j.Patient, j.Problems = who.Match, who.Problems
	if len(who.Problems) > 0 && !confirmed {
		return identity.UnconfirmedError("user", who.Problems)
	}
	v.Confirmed = who.Problems
	return nil
}

// clone returns a copy that shares nothing with the version.
func (v *Version) clone() Version {
	doc, err := json.Marshal(v)
	var c Version
	if err == nil {
		err = json.Unmarshal(doc, &c)
	}
	if err != nil {
		panic(fmt.Sprintf("reports: copying a version: %v", err)) // it was read from JSON
	}
	return c
}

// trust removes the doubts of the reader: a person has compared the rows with the report.
func (v *Version) trust() {
	for i := range v.Rows {
		v.Rows[i].NeedsReview, v.Rows[i].Reasons = false, nil
	}
}

// correct applies the corrections of a review.
func (v *Version) correct(review Review) error {
	if len(review.Corrections) > maxCorrections || len(v.Rows)+len(review.Corrections) > 2*maxCorrections {
		return fault.Newf(fault.Invalid, "List should have at most %d items", maxCorrections).At("body", "corrections").WithType("too_long")
	}
	v.correctMetadata(review.Metadata)
	corrected := map[int]bool{}
	for i, c := range review.Corrections {
		if !c.Remove && !c.changes() {
			return fault.New(fault.Invalid, "Value error, a correction removes its row or gives one of its fields").At("body", "corrections", strconv.Itoa(i))
		}
		if c.Row != nil {
			if corrected[*c.Row] {
				return fault.New(fault.Invalid, "Value error, another correction in this request has the same row").At("body", "corrections", strconv.Itoa(i), "row")
			}
			corrected[*c.Row] = true
		}
		if err := v.correctRow(i, c); err != nil {
			return err
		}
	}
	return nil
}

// rejectsOnly refuses corrections of a report that is rejected: they would be lost.
func (r *Review) rejectsOnly() error {
	switch {
	case len(r.Corrections) > 0:
		return fault.New(fault.Invalid, "Value error, a rejected report takes no corrections").At("body", "corrections")
	case r.Metadata != MetadataCorrection{}:
		return fault.New(fault.Invalid, "Value error, a rejected report takes no corrections").At("body", "metadata")
	}
	return nil
}

// checkDates refuses corrected dates that cannot be true. m has the corrections.
func (c *MetadataCorrection) checkDates(m *extract.Metadata, now time.Time) error {
	for _, one := range []struct {
		field string
		date  *civil.Date
	}{{"birth_date", c.BirthDate}, {"collected_on", c.Collected}, {"reported_on", c.Reported}} {
		wrong := ""
		switch {
		case one.date == nil:
		case one.date.String() > latestDay(now):
			wrong = "the date is in the future"
		case m.BirthDate != "" && (m.CollectedDate != "" && m.CollectedDate < m.BirthDate || m.ReportedDate != "" && m.ReportedDate < m.BirthDate):
			wrong = "the date of birth is after the sample or the report"
		case m.ReportedDate != "" && m.CollectedDate > m.ReportedDate && one.field != "birth_date":
			wrong = "the report is older than the sample"
		}
		if wrong != "" {
			return fault.New(fault.Invalid, "Value error, "+wrong).At("body", "metadata", one.field)
		}
	}
	return nil
}

func (v *Version) correctMetadata(c MetadataCorrection) {
	m := &v.Metadata
	text := func(field string, to *string, after *string) {
		if after != nil && *to != strings.TrimSpace(*after) {
			v.Changes = append(v.Changes, Change{Field: field, Before: *to, After: strings.TrimSpace(*after)})
			*to = strings.TrimSpace(*after)
		}
	}
	day := func(field string, printed, date *string, after *civil.Date) {
		if after == nil {
			return
		}
		word := after.String()
		text(field, date, &word)
		*printed = word
	}
	text("patient_first_name", &m.FirstName, c.FirstName)
	text("patient_last_name", &m.LastName, c.LastName)
	text("lab_name", &m.Lab, c.Lab)
	text("specimen_number", &m.Specimen, c.Specimen)
	day("birth_date", &m.BirthText, &m.BirthDate, c.BirthDate)
	day("collected_on", &m.CollectedText, &m.CollectedDate, c.Collected)
	day("reported_on", &m.ReportedText, &m.ReportedDate, c.Reported)
}

// correctRow applies one correction. at is its place in the request.
func (v *Version) correctRow(at int, c Correction) error {
	place := func(field string) []string { return []string{"body", "corrections", strconv.Itoa(at), field} }
	var i int
	switch {
	case c.Row == nil:
		if c.Name == nil || c.Value == nil || c.Remove {
			return fault.New(fault.Invalid, "Value error, a new result needs test_name and value").At(place("row")...)
		}
		v.Rows = append(v.Rows, extract.Row{Page: 1, Confidence: 1, Status: extract.NoMatch, Interpretation: "unknown"})
		i = len(v.Rows) - 1
		v.note(i, "added", "", *c.Name)
	case *c.Row < 0 || *c.Row >= len(v.Rows) || v.Removed[*c.Row]:
		return fault.New(fault.Invalid, "Value error, the report has no such row").At(place("row")...)
	case c.Remove && c.changes():
		return fault.New(fault.Invalid, "Value error, a correction removes the row or changes it").At(place("remove")...)
	case c.Remove:
		if v.Removed == nil {
			v.Removed = map[int]bool{}
		}
		v.Removed[*c.Row] = true
		v.note(*c.Row, "removed", v.Rows[*c.Row].Name, "")
		return nil
	default:
		i = *c.Row
	}
	r := &v.Rows[i]
	v.setText(i, "test_name", &r.Name, c.Name)
	if r.Name == "" {
		return fault.New(fault.Invalid, "String should have at least 1 character").At(place("test_name")...).WithType("string_too_short")
	}
	wasNumber := isPrintedNumber(r)
	revalued := v.setText(i, "value", &r.Value, c.Value)
	compared := revalued
	isUncertain := slices.Contains(r.Reasons, extract.NumberUncertain)
	if revalued && isUncertain && extract.IsAmbiguousNumber(r.Value) {
		return fault.New(fault.Invalid, "Value error, the comma can separate thousands or decimals; write the number with a point or without a separator").At(place("value")...)
	}
	if r.Value == "" {
		return fault.New(fault.Invalid, "String should have at least 1 character").At(place("value")...).WithType("string_too_short")
	}
	if v.setText(i, "units", &r.Unit, c.Units) {
		compared = true
		r.UCUM = ""
		if known, ok := loinc.UCUM(r.Unit); ok {
			r.UCUM = known
		}
	}
	ranged := v.setText(i, "reference_range", &r.Range.Text, c.Range)
	if ranged { // the bounds follow the text, unless the reviewer gives them
		if parsed := extract.ParseRange(r.Range.Text, false, extract.Patient{Gender: v.Metadata.Gender, Age: -1}); parsed.Kind != extract.RangeOther {
			r.Range = parsed
		} else {
			r.Range = extract.Range{Text: r.Range.Text, Kind: extract.RangeOther}
		}
	}
	ranged = v.setNumber(i, "min_reference_range", &r.Range.Min, c.Min) || ranged
	ranged = v.setNumber(i, "max_reference_range", &r.Range.Max, c.Max) || ranged
	if r.Range.Min != nil && r.Range.Max != nil && *r.Range.Min > *r.Range.Max {
		return fault.New(fault.Invalid, "Value error, the lower bound is above the upper bound").At(place("min_reference_range")...)
	}
	if compared {
		deriveType(r)
	}
	if wasNumber && r.Type == extract.Comment {
		return fault.New(fault.Invalid, "Value error, the result is a number and this text is none; to replace it by a text, remove the row and add a result").At(place("value")...)
	}
	if compared || ranged {
		deriveSide(r)
	}
	if err := v.setLOINC(i, c.LOINC, place("loinc_code")); err != nil {
		return err
	}
	if !revalued && r.HasCriticalFlag() {
		r.Interpretation = string(orders.Critical)
	}
	judgeCritical(r)
	return nil
}

// isPrintedNumber reports whether the value of a row is a number, perhaps an uncertain one.
func isPrintedNumber(r *extract.Row) bool {
	return r.Number != nil || slices.Contains(r.Reasons, extract.NumberUncertain) || (r.Range.Min != nil || r.Range.Max != nil) && strings.ContainsAny(r.Value, "0123456789")
}

// note records a change of a row.
func (v *Version) note(row int, field, before, after string) {
	v.Changes = append(v.Changes, Change{Row: &row, Field: field, Before: before, After: after})
}

// setText sets a text of a row and reports whether it changed.
func (v *Version) setText(row int, field string, to *string, after *string) bool {
	if after == nil {
		return false
	}
	word := strings.TrimSpace(*after)
	if word == *to {
		return false
	}
	v.note(row, field, *to, word)
	*to = word
	return true
}

func (v *Version) setNumber(row int, field string, to **float64, after *float64) bool {
	if after == nil || *to != nil && **to == *after {
		return false
	}
	before := ""
	if *to != nil {
		before = strconv.FormatFloat(**to, 'g', -1, 64)
	}
	v.note(row, field, before, strconv.FormatFloat(*after, 'g', -1, 64))
	*to = after
	return true
}

// setLOINC sets the code of a row.
func (v *Version) setLOINC(row int, code *string, place []string) error {
	if code == nil {
		return nil
	}
	r := &v.Rows[row]
	before := codeOf(r)
	word := strings.TrimSpace(*code)
	if word == "" {
		if before != "" {
			v.note(row, "loinc_code", before, "")
		}
		r.Status, r.Matches = extract.NoMatch, nil
		return nil
	}
	known, ok := loinc.Find(word)
	if !ok {
		return fault.New(fault.Invalid, "Value error, not a LOINC code of the table").At(place...)
	}
	if before != word {
		v.note(row, "loinc_code", before, word)
	}
	r.Status = extract.AutoMatch
	r.Matches = []extract.Match{{Code: known.Code, Name: known.Name, Display: known.Display, Aliases: known.Aliases, Confidence: 1}}
	return nil
}

// Image returns a page of a job's files for a reviewer, as a JPEG.
func (s *Service) Image(ctx context.Context, team teams.ID, id ID, page int) ([]byte, error) {
	var j Job
	var files []File
	err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if j, err = Get(ctx, tx, team, id); err != nil {
			return err
		}
		if page < 1 || page > j.Pages {
			return fault.New(fault.NotFound, "The report has no such page, or is not read yet")
		}
		files, err = readFiles(ctx, tx, &j)
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.Reader == nil {
		return nil, fault.New(fault.Unavailable, "This node reads no reports").WithType("no_report_reader")
	}
	picture, err := s.Reader.Image(ctx, files, page)
	if err != nil {
		return nil, fmt.Errorf("reports: drawing a page of %s: %w", j.ID, err)
	}
	return picture, nil
}
