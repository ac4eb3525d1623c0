package connections

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
)

// A longer text is no name of a device. Four texts of so many bytes fit into one
// entry of PostgreSQL's index of devices, which has room for 2,700.
const (
	longestText  = 200 // characters
	longestBytes = 600 // of UTF-8
)

// text is one of a device's texts and its name on the wire.
type text struct {
	name string
	of   *string
}

func (d *Device) texts() []text {
	return []text{
		{"source_type", &d.SourceType},
		{"app_id", &d.AppID},
		{"device_manufacturer", &d.Manufacturer},
		{"device_model", &d.Model},
		{"device_version", &d.Version},
		{"device_id", &d.ExternalID},
	}
}

// Check refuses a device that would not be kept as it was told, and names the
// fields: texts that are too long or have control characters, a source type that
// there is not, and a device without a manufacturer, a model or an id.
func (d *Device) Check() error {
	var faults []*fault.Error
	for _, t := range d.texts() {
		*t.of = strings.TrimSpace(*t.of)
		faults = append(faults, t.check())
	}
	if d.SourceType != "" && !slices.Contains(wearables.SourceTypes(), d.SourceType) {
		faults = append(faults, fault.NotInEnum(wearables.SourceTypes()).At("body", "source_type"))
	}
	if d.Manufacturer+d.Model+d.ExternalID == "" {
		faults = append(faults, fault.New(fault.Invalid, "Value error, a device has a manufacturer, a model or an id").At("body", "device_model"))
	}
	return fault.Join(faults...)
}

func (t text) check() *fault.Error {
	var problem *fault.Error
	switch {
	case strings.ContainsFunc(*t.of, unicode.IsControl):
		problem = fault.New(fault.Invalid, "Value error, must not contain control characters")
	case utf8.RuneCountInString(*t.of) > longestText:
		problem = fault.Newf(fault.Invalid, "String should have at most %d characters", longestText).WithType("string_too_long")
	case len(*t.of) > longestBytes:
		problem = fault.Newf(fault.Invalid, "String should have at most %d bytes in UTF-8", longestBytes).WithType("string_too_long")
	default:
		return nil
	}
	return problem.At("body", t.name)
}

// tidy makes the texts fit to be kept: the devices of files say anything.
func (d *Device) tidy() {
	for _, t := range d.texts() {
		*t.of = short(strings.TrimSpace(strings.Map(kept, strings.ToValidUTF8(*t.of, ""))))
	}
	if d.SourceType == "" {
		d.SourceType = "unknown"
	}
}

// kept leaves out control characters.
func kept(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}

// short is as much of a text as is kept.
func short(s string) string {
	n := 0
	for i, r := range s {
		if n == longestText || i+utf8.RuneLen(r) > longestBytes {
			return s[:i]
		}
		n++
	}
	return s
}
