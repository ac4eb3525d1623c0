package applehealth

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/xmlscan"
	"hale/internal/wearables/providers"
)

// Provider is the slug that all data of an export carries.
const Provider = "apple_health_kit"

// HealthApp is the app id of values that a person typed into the Health app.
const HealthApp = "com.apple.Health"

// maxSources bounds the sources of one file; the rest share a nameless one.
const maxSources = 2000

// sources turns the sourceName and device texts of records into Sources. It parses each
// pair of texts once. Later records with the same pair cost one comparison with the
// record before, or one map lookup.
type sources struct {
	list   []wearables.Source
	index  map[wearables.Source]int
	byText map[string]int
	key    []byte // the texts of the record before
	last   int

	devices map[files.Device]string // without version, to the newest
}

func newSources() *sources {
	return &sources{index: map[wearables.Source]int{}, byText: map[string]int{}, last: -1}
}

// of returns the number of a record's source.
func (s *sources) of(name, device []byte) int {
	device = trimPointer(device)
	if s.last >= 0 && len(s.key) == len(name)+1+len(device) &&
		bytes.Equal(s.key[:len(name)], name) && bytes.Equal(s.key[len(name)+1:], device) {
		return s.last
	}
	s.key = append(append(append(s.key[:0], name...), 0), device...)
	n, known := s.byText[string(s.key)]
	if !known {
		if len(s.byText) >= 4*maxSources {
			clear(s.byText)
		}
		text := xmlscan.Unescape(device)
		source := describe(xmlscan.Unescape(name), text)
		n = s.number(source)
		s.note(parseDevice(text), source.Type)
		s.byText[string(s.key)] = n
	}
	s.last = n
	return n
}

// manual returns the number of the source for values that the person typed in by hand. n
// is the number of the record's source.
func (s *sources) manual(n int) int {
	source := s.list[n]
	source.Type = "app"
	return s.number(source)
}

func (s *sources) number(source wearables.Source) int {
	if n, ok := s.index[source]; ok {
		return n
	}
	if len(s.list) >= maxSources {
		source = wearables.Source{Provider: Provider, Type: "unknown"}
		if n, ok := s.index[source]; ok {
			return n
		}
	}
	n := len(s.list)
	s.list = append(s.list, source)
	s.index[source] = n
	return n
}

// trimPointer removes the object's address from a device text, because it changes from
// record to record: "<<HKDevice: 0x28…>, name:…".
func trimPointer(device []byte) []byte {
	if i := bytes.IndexByte(device, ','); i >= 0 {
		return device[i:]
	}
	return nil
}

// describe infers the source of a pair of texts.
func describe(name, device string) wearables.Source {
	name = tidyName(name)
	d := parseDevice(device)
	kind := d.sourceType()
	if kind == "" {
		kind = nameType(name)
	}
	return wearables.Source{Provider: Provider, Type: kind, AppID: appID(name, d, kind)}
}

// tidyName normalises the spelling of a name: no-break and thin spaces, typographic
// apostrophes, repeated spaces.
func tidyName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch r {
		case '\u00a0', '\u202f', '\u2007', '\u2009':
			return ' '
		case '\u2019', '\u2018', '\u02bc', '\u00b4', '`':
			return '\''
		case '\u200b', '\u200e', '\u200f', '\ufeff':
			return -1
		}
		return r
	}, name)
	return strings.Join(strings.Fields(name), " ")
}

// healthNames lists the names of the Health app in languages in which it is not
// "Health".
var healthNames = map[string]bool{
	"health": true, "santé": true, "salud": true, "salute": true, "saúde": true, "gezondheid": true,
	"hälsa": true, "helse": true, "sundhed": true, "terveys": true, "zdrowie": true, "zdraví": true,
	"sağlık": true, "здоровье": true, "健康": true, "ヘルスケア": true, "건강": true,
}

// nameType infers the source type from a name alone, for exports without device texts.
// Third-party apps are unknown (reference 7.3).
func nameType(name string) string {
	folded := strings.ToLower(name)
	switch {
	case healthNames[folded]:
		return "app"
	case strings.Contains(folded, "iphone"), strings.Contains(folded, "ipod"):
		return "phone"
	case strings.Contains(folded, "apple watch"), strings.HasSuffix(folded, "watch"):
		return "watch"
	}
	return "unknown"
}

// appSpace is the namespace of the ids made from source names.
var appSpace = uuid.MustParse("6d3f5a52-0a5e-5c63-9a0d-6a41f5a10b5e")

// appID returns a stable id for a source, since exports carry no bundle ids.
// The names of people's own devices often hold the person's name. Those names
// become a digest in the form of the ids that Apple's own sources have. Apps
// keep a readable id.
func appID(name string, d device, kind string) string {
	switch {
	case name == "":
		return ""
	case healthNames[strings.ToLower(name)] && d == device{}:
		return HealthApp
	case kind == "phone", kind == "watch" && d.apple(), strings.Contains(name, "'"), slug(name) == "":
		return wearables.AppleExportDevices + strings.ToUpper(uuid.NewSHA1(appSpace, []byte(name)).String())
	}
	return wearables.AppleExportApps + slug(name)
}

// slug folds a name to letters, digits and hyphens.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimSuffix(b.String()[:min(b.Len(), 60)], "-")
}

// device holds the hardware that a device text describes:
//
//	<<HKDevice: 0x28…>, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10.3.1>
type device struct {
	name, manufacturer, model, hardware, software, localID string
}

// deviceFields are the names of the parts. Values may hold commas, so a part
// ends only where another name starts.
var deviceFields = []string{
	"name", "manufacturer", "model", "hardware", "firmware", "software",
	"localIdentifier", "UDI", "FDA UDI", "creation date",
}

func parseDevice(text string) device {
	var d device
	for text != "" {
		field, value, rest := nextField(text)
		switch field {
		case "name":
			d.name = value
		case "manufacturer":
			d.manufacturer = value
		case "model":
			d.model = value
		case "hardware":
			d.hardware = value
		case "software":
			d.software = value
		case "localIdentifier":
			d.localID = value
		}
		text = rest
	}
	return d
}

// nextField removes the first "name:value" from text. rest is empty at the end.
func nextField(text string) (field, value, rest string) {
	start, name := fieldStart(text)
	if start < 0 {
		return "", "", ""
	}
	text = text[start+len(", :")+len(name):]
	end, _ := fieldStart(text)
	if end < 0 {
		return name, tidyName(strings.TrimSuffix(text, ">")), ""
	}
	return name, tidyName(text[:end]), text[end:]
}

// fieldStart finds the first ", name:" of a known field.
func fieldStart(text string) (at int, name string) {
	for i := 0; ; {
		n := strings.Index(text[i:], ", ")
		if n < 0 {
			return -1, ""
		}
		i += n
		for _, field := range deviceFields {
			if rest, ok := strings.CutPrefix(text[i+2:], field); ok && strings.HasPrefix(rest, ":") {
				return i, field
			}
		}
		i += 2
	}
}

func (d device) apple() bool { return strings.HasPrefix(d.manufacturer, "Apple") }

// deviceWords give the source type of hardware by a word in its model, name or
// hardware, folded. The order matters: the first hit counts.
var deviceWords = []struct{ word, kind string }{
	{"iphone", "phone"},
	{"ipod", "phone"},
	{"watch", "watch"},
	{"oura", "ring"},
	{" ring ", "ring"},
	{"scale", "scale"},
	{"body+", "scale"},
	{"body cardio", "scale"},
	{"body scan", "scale"},
	{"bpm ", "cuff"},
	{"blood pressure", "cuff"},
	{"cuff", "cuff"},
	{"hrm", "chest_strap"},
	{"tickr", "chest_strap"},
	{"polar h", "chest_strap"},
	{"airpods", "earphone"},
}

// sourceType returns the source type of the hardware, or "" if it is unknown.
func (d device) sourceType() string {
	folded := strings.ToLower(d.hardware + " | " + d.model + " | " + d.name + " ")
	for _, w := range deviceWords {
		if strings.Contains(folded, w.word) {
			return w.kind
		}
	}
	return ""
}

// maxDevices bounds the devices that one file may name.
const maxDevices = 200

// note remembers the hardware that a device text names. It leaves out the name, which
// often contains a person's name. Records of many years name one device with many
// software versions, of which the newest counts.
func (s *sources) note(d device, kind string) {
	hardware := files.Device{
		Provider: Provider, SourceType: kind, Manufacturer: d.manufacturer,
		Model: cmp.Or(d.hardware, d.model), ExternalID: d.localID,
	}
	if hardware.Manufacturer == "" && hardware.Model == "" {
		return
	}
	if s.devices == nil {
		s.devices = map[files.Device]string{}
	}
	version, known := s.devices[hardware]
	if !known && len(s.devices) >= maxDevices {
		return
	}
	if !known || providers.IsNewerVersion(d.software, version) {
		s.devices[hardware] = d.software
	}
}

// Devices returns the hardware that the records so far name. Its order does not depend on
// the order of the records.
func (r *Reader) Devices() []files.Device {
	all := make([]files.Device, 0, len(r.sources.devices))
	for d, version := range r.sources.devices {
		d.Version = version
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b files.Device) int {
		return cmp.Or(strings.Compare(a.Manufacturer, b.Manufacturer), strings.Compare(a.Model, b.Model),
			strings.Compare(a.SourceType, b.SourceType), strings.Compare(a.ExternalID, b.ExternalID))
	})
	return all
}
