package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

var errCompendium = errors.New("labs: not a compendium")

// jsonFile is a compendium in JSON.
type jsonFile struct {
	Lab     *Lab              `json:"lab"`
	Markers []json.RawMessage `json:"markers"`
}

// ReadJSON reads a compendium: an object with lab, which may be missing, and
// markers. A field that is not known is a problem, since it is most likely a
// known one mistyped.
func ReadJSON(text []byte) (*Compendium, error) {
	var file jsonFile
	if err := strictly(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &file); err != nil {
		return nil, fmt.Errorf("%w: %w", errCompendium, err)
	}
	c := &Compendium{Lab: file.Lab}
	var problems Problems
	for i, entry := range file.Markers {
		m := ListedMarker{}
		if err := strictly(entry, &m); err != nil {
			problems.add(i+1, "marker", err.Error())
			continue
		}
		m.Line = i + 1
		c.Markers = append(c.Markers, m)
	}
	return c, problems.err()
}

// ReadLab reads the description of a lab, an object in JSON.
func ReadLab(text []byte) (*Lab, error) {
	l := &Lab{}
	if err := strictly(text, l); err != nil {
		return nil, fmt.Errorf("labs: not the description of a lab: %w", err)
	}
	return l, nil
}

func strictly(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more follows after the end")
	}
	return nil
}
