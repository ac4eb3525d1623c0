package push

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/sports"
)

// MostSummaries limits the summaries of one body.
const MostSummaries = 10_000

// Documents is a pushed batch of summaries of one kind.
type Documents struct {
	Head
	Summaries []wearables.Summary
	Index     []int    // of each summary in the list that was sent
	Malformed []Reject // summaries that are left out, because a field of them cannot be read
}

// Rejects returns the summaries that parsing or storing rejected, by their index in the
// list that was sent. The parts of the stored batch are the summaries.
func (d *Documents) Rejects(stored wearables.Result) []Reject {
	all := slices.Clone(d.Malformed)
	for _, r := range stored.Rejections {
		all = append(all, Reject{Reason: r.Reason, Count: r.Count, First: d.Index[r.Part]})
	}
	slices.SortStableFunc(all, func(a, b Reject) int { return cmp.Compare(a.First, b.First) })
	return all
}

// ParseSummaries parses a pushed body of summaries. A summary has the fields of the
// resource as in reads, in snake_case or camelCase. Unknown fields and those that the
// service adds are skipped.
func ParseSummaries(data []byte, d *wearables.Document) (*Documents, error) {
	body, malformed, err := ParseSummaryPart(data, d)
	if err == nil && malformed != nil && len(body.Summaries) == 0 {
		return nil, malformed
	}
	return body, err
}

// ParseSummaryPart parses a body like ParseSummaries, and also accepts one whose
// summaries are all malformed. malformed is the fault of the first malformed summary.
func ParseSummaryPart(data []byte, d *wearables.Document) (out *Documents, malformed, err error) {
	if !utf8.Valid(data) {
		return nil, nil, fault.New(fault.Invalid, "the body is not UTF-8").At("body").WithType("json_invalid")
	}
	s := scanner{b: data, index: -1}
	var body Documents
	var drafts []draft
	seen := false
	err = s.object(func(key []byte) error {
		if string(key) != "data" {
			known, err := s.headMember(&body.Head, key)
			if err == nil && !known {
				err = s.skip(0)
			}
			return err
		}
		s.field = "data"
		if null, err := s.null(); null || err != nil {
			return err
		}
		seen, s.within, s.field, drafts = true, dataPath, "", nil
		body.Malformed = nil
		err := s.list(func(i int) error {
			if i == MostSummaries {
				return fault.Newf(fault.TooLarge, "a batch has at most %d summaries", MostSummaries).At("body", "data")
			}
			s.index, s.field = i, ""
			s.peek()
			from := s.pos
			one, err := s.document(d)
			if err != nil {
				return s.leaveOut(err, from, &body.Malformed, &malformed)
			}
			one.index = i
			drafts = append(drafts, one)
			return nil
		})
		s.within, s.index, s.field = nil, -1, ""
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if s.peek() != 0 || s.pos < len(data) {
		return nil, nil, s.bad()
	}
	if err := body.Head.check("data", seen); err != nil {
		return nil, nil, err
	}
	s.within = dataPath
	for i := range drafts {
		s.index, s.field = drafts[i].index, ""
		summary, err := s.finish(&drafts[i], d, body.Head.TimeZone)
		if one := (*fault.Error)(nil); errors.As(err, &one) {
			body.Malformed, malformed = reject(body.Malformed, s.reason(one), 1, s.index), cmp.Or(malformed, err)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		body.Summaries, body.Index = append(body.Summaries, summary), append(body.Index, drafts[i].index)
	}
	return &body, malformed, nil
}

// draft is a summary whose fields are read. The rest depends on the time zone, which
// may follow later in the body.
type draft struct {
	wearables.Summary
	index  int
	fields map[string]json.RawMessage
	offset *int // seconds east of UTC, of a session that has no field for it
}

// finish completes a draft.
func (s *scanner) finish(one *draft, d *wearables.Document, zone string) (wearables.Summary, error) {
	if err := s.identify(one, d, zone); err != nil {
		return one.Summary, err
	}
	var err error
	one.Body, err = json.Marshal(one.fields)
	return one.Summary, err
}

// document reads one summary.
func (s *scanner) document(d *wearables.Document) (draft, error) {
	out := draft{Summary: wearables.Summary{Resource: d.Name, Whole: d.Dated}, fields: map[string]json.RawMessage{}}
	var records [5]string // as in recordFields
	err := s.object(func(key []byte) error {
		name := snakeCase(key)
		s.field = name
		s.space()
		start := s.pos
		if err := s.skip(0); err != nil {
			return err
		}
		if f, ok := d.Settable(name); ok && name != deprecatedDate {
			raw := s.b[start:s.pos]
			switch name {
			case "sport":
				raw = completeSport(raw)
			case "energy", "data":
				raw = inKilocalories(raw)
			}
			if !f.Fits(raw) {
				if words := f.Shape().ListedWords(); len(words) > 0 {
					return s.wrong("enum", fault.EnumMessage(words))
				}
				message := "Value error, should be null or " + f.Shape().String()
				if fault := f.Shape().Fault(raw); fault != "" {
					message += ": " + fault
				}
				return s.wrong("value_error", message)
			}
			out.fields[name] = json.RawMessage(raw)
		} else if name == "timezone_offset" && d.Start != "" {
			if err := s.dayOffset(s.b[start:s.pos], &out.offset); err != nil {
				return err
			}
		}
		if i := slices.Index(recordFields, name); i >= 0 {
			if err := s.recordID(s.b[start:s.pos], &records[i]); err != nil {
				return err
			}
		}
		return s.sourceField(name, s.b[start:s.pos], &out.Source)
	})
	if err != nil {
		return out, err
	}
	out.Record = cmp.Or(records[:]...)
	s.field = ""
	if out.Source.Type == "" {
		out.Source.Type = "unknown"
	}
	return out, nil
}

// recordFields name the provider's own id of a record, the most certain one first.
var recordFields = []string{"external_id", "metadata", "uuid", "id", "provider_id"}

// recordID reads the provider's own id of a record, or the one in its metadata. Ids of
// other forms are no error: they had no meaning before.
func (s *scanner) recordID(raw []byte, to *string) error {
	var metadata struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, to) != nil && json.Unmarshal(raw, &metadata) == nil {
		*to = metadata.ID
	}
	return fitsWord(s, *to)
}

// sourceField reads the source from its object or from the flat fields.
func (s *scanner) sourceField(name string, raw []byte, to *wearables.Source) error {
	var err error
	switch name {
	case "source":
		var source struct {
			Type     string     `json:"type"`
			AppID    string     `json:"app_id"`
			DeviceID *uuid.UUID `json:"device_id"`
		}
		err = json.Unmarshal(raw, &source)
		to.Type, to.AppID, to.DeviceID = source.Type, source.AppID, source.DeviceID
	case "source_type":
		err = json.Unmarshal(raw, &to.Type)
	case "source_app_id", "source_bundle", "app_id":
		err = json.Unmarshal(raw, &to.AppID)
	case "product_type":
		var product string
		err = json.Unmarshal(raw, &product)
		to.Type = sourceType(to.Type, product)
	case "source_device_id", "device_id":
		err = json.Unmarshal(raw, &to.DeviceID)
	}
	if err != nil {
		return s.wrong("value_error", "Value error, not a source")
	}
	return fitsWord(s, to.AppID)
}

// dayOffset reads the offset of a session without a field for it. It determines the day
// and is not stored. A whole number may have any form: 7200.0 and 7.2e3 are 7200.
func (s *scanner) dayOffset(raw []byte, to **int) error {
	var offset *float64
	if json.Unmarshal(raw, &offset) != nil || offset != nil && (*offset != math.Trunc(*offset) || math.Abs(*offset) > maxOffset) {
		return s.wrong("int_type", "Input should be a whole number of seconds within 18 hours")
	}
	*to = nil
	if offset != nil {
		seconds := int(*offset)
		*to = &seconds
	}
	return nil
}

// identify sets the key of the summary: the day or the start of the session, and the
// source.
func (s *scanner) identify(out *draft, d *wearables.Document, zone string) error {
	s.field = ""
	fields := out.fields
	moment := func(name string) (t time.Time, err error) {
		var text string
		if raw := fields[name]; name != "" && raw != nil {
			if err := json.Unmarshal(raw, &text); err == nil && text != "" {
				t, err = time.Parse(time.RFC3339, text)
				if err != nil {
					s.field = name
					return t, s.wrong("datetime_parsing", "Input should be a valid datetime with an offset")
				}
			}
		}
		return t, nil
	}
	var err error
	if out.Start, err = moment(d.Start); err != nil {
		return err
	}
	if out.End, err = moment(d.End); err != nil {
		return err
	}
	var day string
	_ = json.Unmarshal(fields["calendar_date"], &day)
	if d.Name == "menstrual_cycle" {
		_ = json.Unmarshal(fields["period_start"], &day)
	}
	if day != "" {
		if out.Date, err = civil.ParseDate(day); err != nil {
			s.field = "calendar_date"
			return s.wrong("date_from_datetime_parsing", "Input should be a valid date in the format YYYY-MM-DD")
		}
	}
	out.place(d, zone)
	source := "|" + out.Source.Type + "|" + out.Source.AppID
	switch {
	case !d.Dated:
		out.Key = "profile"
	case d.Start != "":
		if out.Start.IsZero() {
			s.field = d.Start
			return s.wrong("missing", "Field required")
		}
		if d.End != "" && out.End.IsZero() {
			s.field = d.End
			return s.wrong("missing", "Field required")
		}
		if d.Name == "note" && isMissing(fields["value"]) {
			s.field = "value"
			return s.wrong("missing", "Field required")
		}
		out.Key = out.Start.UTC().Format(time.RFC3339Nano) + source
	default:
		if out.Date.IsZero() {
			s.field = requiredFields(d)[0]
			return s.wrong("missing", "Field required")
		}
		out.Key = out.Date.String() + source
	}
	return nil
}

// place sets the place of a summary that does not state it. It uses the offset in the
// text of the summary's start, or the device's zone. A session without a field for the
// place gets its day.
func (one *draft) place(d *wearables.Document, name string) {
	if !isMissing(one.fields["timezone_offset"]) || !isMissing(one.fields["time_zone"]) || one.Start.IsZero() && one.Date.IsZero() {
		return
	}
	zone, err := civil.Zone(name)
	if name == "" || err != nil {
		name, zone = "", time.UTC
	}
	start := one.Start
	if d.Wakes && !one.End.IsZero() { // where the person woke up
		start = one.End
	}
	_, stated := start.Zone() // 0 for Z and +00:00, which do not state a place
	if stated == 0 {
		_, stated = one.Start.Zone()
	}
	if start.IsZero() {
		start = one.Date.In(zone)
	}
	_, seconds := start.In(zone).Zone()
	switch {
	case one.offset != nil && (name == "" || *one.offset != seconds):
		name, seconds = "", *one.offset
	case one.offset != nil:
	case stated != 0 && stated != seconds:
		name, seconds = "", stated
	case stated == 0 && name == "":
		return
	default:
		one.Assumed = stated == 0
	}
	kept := false
	if _, ok := d.Settable("timezone_offset"); ok {
		one.fields["timezone_offset"], kept = strconv.AppendInt(nil, int64(seconds), 10), true
	}
	if _, ok := d.Settable("time_zone"); ok && name != "" {
		one.fields["time_zone"], kept = strconv.AppendQuote(nil, name), true // it has letters and slashes only
	}
	if _, first := one.Start.In(zone).Zone(); d.Wakes && name != "" && one.Assumed && first != seconds { // the clock changed at night
		one.fields[d.Start] = strconv.AppendQuote(nil, one.Start.In(zone).Format(time.RFC3339Nano))
	}
	if !kept && d.Start != "" && one.Date.IsZero() {
		at := one.Start
		if d.Wakes && !one.End.IsZero() {
			at = one.End
		}
		one.Date = civil.DateOf(at.In(time.FixedZone("", seconds)))
	}
}

func isMissing(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

// completeSport gives a sport of HealthKit's list its name and its number, as imports do. A
// slug is enough. Others get the number of "other". The number is deprecated, but clients
// read it.
func completeSport(raw []byte) []byte {
	var sport map[string]any
	if json.Unmarshal(raw, &sport) != nil || sport == nil {
		return raw
	}
	slug, _ := sport["slug"].(string)
	known, ok := sports.BySlug(slug)
	if sport["id"] != nil && (sport["name"] != nil || !ok) {
		return raw
	}
	if ok && sport["name"] == nil {
		sport["name"] = known.Name
	}
	if !ok {
		known.ID = wearables.OtherSport
	}
	if sport["id"] == nil {
		sport["id"] = known.ID
	}
	out, _ := json.Marshal(sport) // it was JSON
	return out
}

// inKilocalories converts the energy of a meal, or that of each of its foods.
func inKilocalories(raw []byte) []byte {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	kcal, _ := wearables.ResourceNamed("calories_active")
	changed := convertEnergy(v, kcal)
	for _, food := range v {
		if food, ok := food.(map[string]any); ok {
			if energy, ok := food["energy"].(map[string]any); ok {
				changed = convertEnergy(energy, kcal) || changed
			}
		}
	}
	if !changed {
		return raw
	}
	out, _ := json.Marshal(v) // it was JSON
	return out
}

func convertEnergy(energy map[string]any, kcal *wearables.Resource) (changed bool) {
	unit, ok := energy["unit"].(string)
	value, isNumber := energy["value"].(float64)
	if !ok || !isNumber || unit == kcal.Unit {
		return false
	}
	g := Group{Unit: unit}
	if g.Value = []float64{value}; !g.convert(kcal) {
		return false
	}
	energy["unit"], energy["value"] = kcal.Unit, g.Value[0]
	return true
}

// snakeCase returns a key in snake_case.
func snakeCase(key []byte) string {
	out := make([]byte, 0, len(key)+4)
	for i, c := range key {
		if c < utf8.RuneSelf && unicode.IsUpper(rune(c)) {
			if i > 0 && key[i-1] != '_' {
				out = append(out, '_')
			}
			c = byte(unicode.ToLower(rune(c)))
		}
		out = append(out, c)
	}
	return string(out)
}
