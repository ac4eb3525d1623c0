package applehealth

import "strings"

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
		return name, tidy(strings.TrimSuffix(text, ">")), ""
	}
	return name, tidy(text[:end]), text[end:]
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
