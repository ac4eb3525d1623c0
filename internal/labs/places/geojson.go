package places

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"hale/internal/platform/fault"
)

// isCollection tells from its beginning whether JSON is a GeoJSON document
// rather than an object on each line. It looks at the first object's own keys,
// not for a word in the text, which may stand in anybody's name.
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

// geoRecords reads the features of a collection one after another, so that a
// file of any size takes the memory of one feature.
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
		return fault.New(fault.Invalid, "the GeoJSON breaks off")
	}
	return nil
}

// featureRecord is a feature's properties, with its point for lat and lng.
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
	var at []float64 // longitude first; a third number would be the height
	if feature.Geometry.Type != "Point" || json.Unmarshal(feature.Geometry.Coordinates, &at) != nil || len(at) < 2 {
		return record{}, errLine{Problem{line, "geometry", "must be a Point, [longitude, latitude]"}}
	}
	r.fields["lng"] = strconv.FormatFloat(at[0], 'f', -1, 64)
	r.fields["lat"] = strconv.FormatFloat(at[1], 'f', -1, 64)
	return r, nil
}
