package ultrahuman

import (
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// measured is a metric with values through the day.
type measured struct {
	name, resource, sampleType string
	source                     wearables.Source
	times                      float64
}

// series lists these metrics: bpm, ms, %, mg/dL. The kind of the variability is
// unknown.
var series = []measured{
	{"hr", "heartrate", "", ring, 1},
	{"hrv", "hrv", "", ring, 1},
	{"spo2", "blood_oxygen", "", ring, 1},
	{"glucose", "glucose", "automatic", sensor, 1 / sheet.MilligramsPerMillimole},
}

func (r *reader) series(item, body replies.Document, s measured) replies.Verdict {
	key := sheet.Key{Resource: s.resource, Type: s.sampleType, Source: s.source}
	kept := false
	for _, one := range body.Documents("values") {
		at, ok := one.Unix("timestamp")
		v := one.Positive("value")
		if !ok || v == nil {
			continue
		}
		r.Gather.At(key, at.UnixMicro(), r.offset(item, at), *v*s.times)
		kept = true
	}
	return replies.VerdictOf(kept)
}
