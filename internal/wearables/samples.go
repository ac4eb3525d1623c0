package wearables

import (
	"cmp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/blocks"
)

// NoOffset marks a sample without a stated time zone offset.
const NoOffset int32 = -1 << 31

// assumedMark is added to an assumed offset. Offsets are within 26 hours, and storage
// marks others with less.
const assumedMark = int32(1 << 21)

// MarkAssumed marks the offset of a sample as that of the batch: the zone of the phone
// when it sent the sample. A stored sample keeps its own.
func MarkAssumed(seconds int32) int32 { return seconds + assumedMark }

// SplitAssumed returns an offset without the mark of MarkAssumed, and whether it had one.
func SplitAssumed(offset int32) (plain int32, assumed bool) {
	if offset > assumedMark-assumedMark/4 {
		return offset - assumedMark, true
	}
	return offset, false
}

// Source is the context of a summary or of a group of samples: which
// provider, which kind of device, which app. Two sources never overwrite each
// other's values.
//
// Spec: Versioning, 4. Reference 7.3.
type Source struct {
	Provider  string     // provider slug, such as apple_health_kit
	Type      string     // one of sourceTypes; empty is unknown
	AppID     string     // bundle id or package name; empty when not known
	DeviceID  *uuid.UUID // our id of the device; nil if not certain
	Sport     string     // workout series only
	WorkoutID *uuid.UUID // workout series only
	Stranger  bool       // DeviceID is not a device of the user: its data is refused
}

// sourceTypes lists the kinds of source.
//
// Reference 7.3.
var sourceTypes = []string{
	"unknown", "phone", "watch", "app", "multiple_sources", "fingerprick", "cuff", "manual_scan", "automatic",
	"insulin_pump", "scale", "chest_strap", "ring", "lab", "exercise_machine", "earphone",
}

// SourceTypes returns the kinds of source.
func SourceTypes() []string { return slices.Clone(sourceTypes) }

// Same reports whether two sources are equal. An empty Type is unknown.
func (s Source) Same(o Source) bool {
	return s.Provider == o.Provider && cmp.Or(s.Type, unknownType) == cmp.Or(o.Type, unknownType) && s.AppID == o.AppID &&
		s.Sport == o.Sport && sameID(s.DeviceID, o.DeviceID) && sameID(s.WorkoutID, o.WorkoutID)
}

// SameRecorder reports whether two sources may be one device or app. One of them may not
// know the device. Or one comes from an export and the other from a push.
func (s *Source) SameRecorder(o *Source) bool {
	return s.SameApp(o) || s.IsOtherTransport(o)
}

// SameApp reports whether two sources are of one app or device, as it names itself: one may
// not know the device.
func (s *Source) SameApp(o *Source) bool {
	return cmp.Or(s.Type, unknownType) == cmp.Or(o.Type, unknownType) && s.AppID == o.AppID &&
		(s.DeviceID == nil || o.DeviceID == nil || *s.DeviceID == *o.DeviceID)
}

const unknownType = "unknown"

// sameID compares ids; nil equals the zero id.
func sameID(a, b *uuid.UUID) bool {
	var x, y uuid.UUID
	if a != nil {
		x = *a
	}
	if b != nil {
		y = *b
	}
	return x == y
}

// Samples holds measurements of one resource from one source, as columns of equal
// length. End, Offset and Value2 may be nil if no sample has one.
type Samples struct {
	Resource string // a Series name, such as heartrate
	Type     string // the resource's `type` word, such as sdnn; mostly empty
	Extra    string // ExtraText of the resource's further words; mostly empty
	Source   Source
	Time     []int64   // start, UTC microseconds
	End      []int64   // end of an interval, UTC microseconds
	Offset   []int32   // seconds east of UTC, or NoOffset
	Value    []float64 // in the resource's canonical unit
	Value2   []float64 // diastolic pressure, mmHg; other resources have none
	Record   []string  // the provider's own ids; nil if no sample has one
	// Order has the position of each sample in the body that was sent; nil means that the
	// groups of a batch are in order.
	Order []int32
}

// Len returns the number of samples.
func (s *Samples) Len() int { return len(s.Time) }

// Columns returns the samples as columns of a block.
func (s *Samples) Columns() blocks.Columns {
	return blocks.Columns{Time: s.Time, End: s.End, Offset: s.Offset, Value: s.Value, Value2: s.Value2}
}

// SetColumns replaces the samples.
func (s *Samples) SetColumns(c *blocks.Columns) {
	s.Time, s.End, s.Offset, s.Value, s.Value2 = c.Time, c.End, c.Offset, c.Value, c.Value2
}

// Stage is the pipeline that delivered the data. It decides which events there are.
type Stage string

// Historical data fills the past of a new connection; one event per resource reports
// its end. Daily data is all later data.
const (
	Historical Stage = "historical"
	Daily      Stage = "daily"
)

// Stages lists the stages.
var Stages = []Stage{Historical, Daily}

// KnownSourceType reports whether kind is one of SourceTypes.
func KnownSourceType(kind string) bool { return slices.Contains(sourceTypes, kind) }

// An Apple Health export has no bundle ids, so its importer derives an app id from each
// source name. The name of a person's own device becomes a digest, and the name of an app
// becomes a readable id. A phone that reads HealthKit sends bundle ids. Both transports
// read one HealthKit store: an export's device and a pushed source of the same type are
// one recorder.

// AppleExportApps begins the app ids that an export gives to apps.
const AppleExportApps = "healthkit.source."

// AppleExportDevices begins the app ids that an export gives to devices; a digest follows.
// Apple's own ids have the same form with a random UUID.
const AppleExportDevices = "com.apple.health."

const appleHealth = "apple_health_kit"

// digestVersion is the version of UUIDs that are digests of names.
const digestVersion = 5

// IsAppleExport reports whether the source is one of an Apple Health export.
func (s *Source) IsAppleExport() bool {
	return s.Provider == appleHealth && strings.HasPrefix(s.AppID, AppleExportApps) || s.isAppleExportDevice()
}

// MayHaveTransports reports whether the source's data may come pushed and in an export.
func (s *Source) MayHaveTransports() bool { return s.Provider == appleHealth }

// MayBeExported reports whether an Apple Health export may have the samples of the source
// too.
func (s *Source) MayBeExported() bool { return s.Provider == appleHealth && !s.IsAppleExport() }

func (s *Source) isAppleExportDevice() bool {
	digest, ok := strings.CutPrefix(s.AppID, AppleExportDevices)
	if !ok || s.Provider != appleHealth {
		return false
	}
	id, err := uuid.Parse(digest)
	return err == nil && id.Version() == digestVersion
}

// IsOtherTransport reports whether two sources of a HealthKit store are one phone or watch,
// once in an export and once as the phone sends it.
func (s *Source) IsOtherTransport(o *Source) bool {
	if s.Provider != appleHealth || o.Provider != appleHealth || cmp.Or(s.Type, unknownType) != cmp.Or(o.Type, unknownType) {
		return false
	}
	return s.isAppleExportDevice() && !o.IsAppleExport() || o.isAppleExportDevice() && !s.IsAppleExport()
}
