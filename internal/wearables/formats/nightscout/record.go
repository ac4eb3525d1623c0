package nightscout

import (
	"encoding/json"
	"strconv"
	"strings"

	"hale/internal/wearables/formats/sheet"
)

// text is a field that uploaders write as text, as a number or as null. Other values
// are empty.
type text string

// UnmarshalJSON takes every JSON value.
func (t *text) UnmarshalJSON(raw []byte) error {
	*t = ""
	switch c := raw[0]; {
	case c == '"':
		return json.Unmarshal(raw, (*string)(t))
	case c == '-' || c >= '0' && c <= '9':
		*t = text(raw)
	case string(raw) == "true":
		*t = "true"
	}
	return nil
}

// number returns the field as a number above zero. It returns false for any other value.
func (t text) number() (float64, bool) {
	v, ok := sheet.Number(strings.TrimSpace(string(t)))
	return v, ok && v > 0
}

// integer returns the field as a whole number, or false if it is not a number in range.
// It drops a fraction.
func (t text) integer() (int64, bool) {
	n, err := strconv.ParseInt(string(t), 10, 64)
	if err == nil {
		return n, true
	}
	v, ok := sheet.Number(string(t)) // 1.5279243e12
	return int64(v), ok && v > -1e15 && v < 1e15
}

// record has the fields that the reader uses from entries, treatments and pump history.
// Names, notes and serial numbers are not among them.
type record struct {
	Type text `json:"type"` // entries: sgv, mbg, cal
	SGV  text `json:"sgv"`  // mg/dL
	MBG  text `json:"mbg"`  // mg/dL

	EventType   text `json:"eventType"` // treatments
	Carbs       text `json:"carbs"`     // g
	Insulin     text `json:"insulin"`   // units
	Glucose     text `json:"glucose"`   // in Units
	GlucoseType text `json:"glucoseType"`
	Units       text `json:"units"`
	SMB         text `json:"isSMB"`
	PumpID      text `json:"pumpId"`
	PumpType    text `json:"pumpType"`

	PumpEvent text `json:"_type"`  // pump history: Bolus, TempBasal, …
	Amount    text `json:"amount"` // units

	Date       text `json:"date"` // milliseconds of Unix time
	DateString text `json:"dateString"`
	CreatedAt  text `json:"created_at"`
	Timestamp  text `json:"timestamp"`
	UTCOffset  text `json:"utcOffset"` // minutes
}

// These methods report the kind of document that a record belongs to.
func (r *record) isEntry() bool {
	named := r.Type == "sgv" || r.Type == "mbg" || r.Type == "cal"
	return named || (r.SGV != "" || r.MBG != "") && (r.Date != "" || r.DateString != "")
}

func (r *record) isTreatment() bool {
	return (r.EventType != "" || r.Carbs != "" || r.Insulin != "") && (r.CreatedAt != "" || r.Timestamp != "")
}

func (r *record) isPumpEvent() bool { return r.PumpEvent != "" && r.Timestamp != "" }
