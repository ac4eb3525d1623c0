package nightscout

import (
	"hale/internal/wearables"
	"hale/internal/wearables/formats/sheet"
)

// sourceOf returns the source of a type of device.
func sourceOf(kind string) wearables.Source {
	return wearables.Source{Provider: Provider, Type: kind, AppID: AppID}
}

var (
	sensor = sheet.Key{Resource: "glucose", Type: "automatic", Source: sourceOf("automatic")}
	finger = sheet.Key{Resource: "glucose", Source: sourceOf("fingerprick")}
)

// A sensor's reading, in mg/dL. Numbers up to 38 are codes of errors. 39 and
// 401 mean below and above the range of the sensor.
const (
	lastCode     = 38
	belowMeasure = 39
	aboveMeasure = 401
)

// takeEntry reads an entry. Entries are always in mg/dL.
func takeEntry(d *sheet.Document, r *record) {
	name, field, key := "sgv", r.SGV, sensor
	switch {
	case r.Type == "mbg" || r.Type == "" && r.SGV == "":
		name, field, key = "mbg", r.MBG, finger
	case r.Type != "sgv" && r.Type != "":
		skip(d, listedName(string(r.Type), "cal", "rawbg", "etc"))
		return
	}
	value, ok := field.number()
	if ok && name == "sgv" && (value == belowMeasure || value == aboveMeasure) {
		skip(d, "sgv outside the range")
		return
	}
	count := d.Report.Type(name)
	count.Read++
	at, offset, good := r.moment(d.Zone)
	switch {
	case !good:
		count.BadDate++
		d.Report.Left(count)
		return
	case !ok, name == "sgv" && value <= lastCode:
		count.BadValue++
		d.Report.Left(count)
		return
	}
	d.Gather.At(key, at, offset, value/sheet.MilligramsPerMillimole)
	mapped(d, count)
}

// listedName returns a listed name, so that reports contain no typed text.
func listedName(name string, list ...string) string {
	for _, k := range list {
		if name == k {
			return name
		}
	}
	return "other"
}
