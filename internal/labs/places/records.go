package places

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"hale/internal/platform/fault"
)

// Problem describes a problem with one line of a file.
type Problem struct {
	Line  int    `json:"line"`  // from 1; for GeoJSON the number of the feature
	Field string `json:"field"` // empty for the line as a whole
	Text  string `json:"problem"`
}

// mostProblems limits a report: a file with more problems usually repeats one
// of them in every line.
const mostProblems = 1000

// largestLine limits the memory for one line.
const largestLine = 1 << 20

// record is one line of a file in any format: texts by field.
type record struct {
	line   int
	fields map[string]string
}

// Other names of fields that files use.
var otherNames = map[string]string{
	"slug": "lab_slug", "lab": "lab_slug",
	"code": "site_code", "site": "site_code",
	"address": "first_line", "address_1": "first_line", "address_2": "second_line",
	"zip": "zip_code", "zipcode": "zip_code", "postal_code": "zip_code",
	"latitude": "lat", "longitude": "lng", "lon": "lng",
	"phone_number": "phone", "fax_number": "fax",
	"time_zone": "timezone", "tz": "timezone", "iana_timezone": "timezone",
	"opening_hours": "hours", "appointment_url": "website", "url": "website",
}

// fieldName returns the canonical name of a field.
func fieldName(name string) string {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_")
	if better := otherNames[name]; better != "" {
		return better
	}
	return name
}

// errLine is a line that cannot be read at all. Reading continues after it.
type errLine struct{ Problem }

func (e errLine) Error() string { return e.Text }

// records calls fn for each line of a file: CSV with a header, JSON with one
// object per line, or GeoJSON, detected by content. fn receives a record or an
// errLine. Any other error of the file ends the reading.
func records(file io.Reader, fn func(record, error)) error {
	in := bufio.NewReaderSize(file, 64<<10)
	head, err := in.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("places: reading the file: %w", err)
	}
	if bytes.Equal(head, []byte("\xef\xbb\xbf")) { // byte order mark
		_, _ = in.Discard(3)
	}
	head, _ = in.Peek(in.Size())
	switch start := bytes.TrimLeft(head, " \t\r\n"); {
	case len(start) == 0:
		return fault.New(fault.Invalid, "the file is empty")
	case start[0] != '{':
		return csvRecords(in, fn)
	case isCollection(start):
		return geoRecords(in, fn)
	}
	return jsonRecords(in, fn)
}

func csvRecords(in io.Reader, fn func(record, error)) error {
	rows := csv.NewReader(in)
	rows.TrimLeadingSpace, rows.FieldsPerRecord = true, -1
	titles, err := rows.Read()
	if err != nil {
		return fault.New(fault.Invalid, "the first line is not a CSV header")
	}
	titles = slices.Clone(titles)
	for i := range titles {
		titles[i] = fieldName(titles[i])
		if titles[i] != "" && slices.Contains(titles[:i], titles[i]) {
			return fault.Newf(fault.Invalid, "the column %s is listed twice", titles[i])
		}
	}
	for {
		row, err := rows.Read()
		var broken *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &broken):
			fn(record{}, errLine{Problem{Line: broken.StartLine, Text: "not CSV: " + broken.Err.Error()}})
			continue
		case err != nil:
			return fmt.Errorf("places: reading the file: %w", err)
		}
		line, _ := rows.FieldPos(0)
		if len(row) != len(titles) {
			fn(record{}, errLine{Problem{Line: line, Text: fmt.Sprintf("has %d columns, the titles are %d", len(row), len(titles))}})
			continue
		}
		r := record{line, make(map[string]string, len(row))}
		for i, text := range row {
			r.fields[titles[i]] = strings.TrimSpace(text)
		}
		fn(checkTexts(r))
	}
}

// jsonRecords reads one object per line. GeoJSON features are accepted, too.
func jsonRecords(in io.Reader, fn func(record, error)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, largestLine)
	for n := 1; lines.Scan(); n++ {
		if text := bytes.TrimSpace(lines.Bytes()); len(text) > 0 {
			fn(objectRecord(n, text))
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fault.Newf(fault.Invalid, "a line is longer than %d bytes", largestLine)
	} else if err != nil {
		return fmt.Errorf("places: reading the file: %w", err)
	}
	return nil
}

func objectRecord(line int, text []byte) (record, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return record{}, errLine{Problem{Line: line, Text: "not a JSON object"}}
	}
	if _, isFeature := object["geometry"]; isFeature && object["properties"] != nil {
		return featureRecord(line, text)
	}
	return fieldsOf(line, object)
}

// fieldsOf converts the values of an object to the texts of a CSV file: lists
// of words are joined, objects stay JSON, null is empty.
func fieldsOf(line int, object map[string]json.RawMessage) (record, error) {
	r := record{line, make(map[string]string, len(object))}
	for name, raw := range object {
		name = fieldName(name)
		if _, twice := r.fields[name]; twice {
			return record{}, errLine{Problem{line, name, "is there twice, under two names"}}
		}
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			return record{}, errLine{Problem{line, name, "not JSON"}}
		}
		switch v := value.(type) {
		case nil:
			r.fields[name] = ""
		case string:
			r.fields[name] = strings.TrimSpace(v)
		case []any:
			words := make([]string, len(v))
			for i, word := range v {
				words[i] = strings.TrimSpace(fmt.Sprint(word))
			}
			r.fields[name] = strings.Join(words, ";")
		default: // numbers, true and false, objects
			r.fields[name] = string(raw)
		}
	}
	return checkTexts(r)
}

// checkTexts refuses text that one of the databases cannot store.
func checkTexts(r record) (record, error) {
	for name, text := range r.fields {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return record{}, errLine{Problem{r.line, name, "is not UTF-8 text"}}
		}
	}
	return r, nil
}

// isCollection reports whether JSON is a GeoJSON document, by its beginning,
// and not one object per line. It looks at the keys of the first object: the
// word could also be part of a name.
func isCollection(head []byte) bool {
	in := json.NewDecoder(bytes.NewReader(head))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return false
		}
		if key == "features" {
			return true
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return false // cut off by the end of head, or broken
		}
		if key == "type" && string(value) == `"FeatureCollection"` {
			return true
		}
	}
	return false
}

var errNotGeoJSON = fault.New(fault.Invalid, "not a GeoJSON FeatureCollection")

// geoRecords reads the features of a collection one by one, so that a file of
// any size needs the memory of one feature.
//
// RFC 7946.
func geoRecords(in io.Reader, fn func(record, error)) error {
	file := json.NewDecoder(in)
	if _, err := file.Token(); err != nil {
		return errNotGeoJSON
	}
	n := 0
	for file.More() {
		key, err := file.Token()
		if err != nil {
			return errNotGeoJSON
		}
		if key != "features" {
			var skipped json.RawMessage
			if err := file.Decode(&skipped); err != nil {
				return errNotGeoJSON
			}
			continue
		}
		if open, err := file.Token(); err != nil || open != json.Delim('[') {
			return errNotGeoJSON
		}
		for file.More() {
			var feature json.RawMessage
			if err := file.Decode(&feature); err != nil {
				return fault.Newf(fault.Invalid, "feature %d is not JSON", n+1)
			}
			n++
			fn(featureRecord(n, feature))
		}
		if _, err := file.Token(); err != nil {
			return errNotGeoJSON
		}
	}
	if end, err := file.Token(); err != nil || end != json.Delim('}') {
		return fault.New(fault.Invalid, "the GeoJSON is incomplete")
	}
	return nil
}

// featureRecord returns a feature's properties, with its point as lat and lng.
func featureRecord(line int, text []byte) (record, error) {
	var feature struct {
		Geometry *struct {
			Type        string          `json:"type"`
			Coordinates json.RawMessage `json:"coordinates"`
		} `json:"geometry"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(text, &feature); err != nil {
		return record{}, errLine{Problem{Line: line, Text: "not a GeoJSON feature"}}
	}
	r, err := fieldsOf(line, feature.Properties)
	if err != nil || feature.Geometry == nil {
		return r, err
	}
	var at []float64 // longitude first; a third number is the height
	if feature.Geometry.Type != "Point" || json.Unmarshal(feature.Geometry.Coordinates, &at) != nil || len(at) < 2 {
		return record{}, errLine{Problem{line, "geometry", "must be a Point, [longitude, latitude]"}}
	}
	r.fields["lng"] = strconv.FormatFloat(at[0], 'f', -1, 64)
	r.fields["lat"] = strconv.FormatFloat(at[1], 'f', -1, 64)
	return r, nil
}
