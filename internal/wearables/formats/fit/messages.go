package fit

import (
	"context"
	"strconv"
	"time"

	"github.com/muktihari/fit/kit/datetime"
	"github.com/muktihari/fit/profile/mesgdef"
	"github.com/muktihari/fit/profile/typedef"
	"github.com/muktihari/fit/profile/untyped/mesgnum"
	"github.com/muktihari/fit/proto"

	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// part is one file of a chain. If it cannot be read to its end, part has the data before
// that place.
type part struct {
	outcome *files.Outcome
	end     int64 // in bytes of the chain
	cut     bool  // it is cut off
	named   bool  // it states its type

	id      mesgdef.FileId
	undated bool   // times count from when the device was switched on
	version string // of the device's software
	title   string // the person's name of the sport
	sport   sport
	offset  int32 // seconds east of UTC, or wearables.NoOffset

	record    mesgdef.Record // reused
	moments   files.Course
	recorded  []keptRecord // the moments, in the order of the file
	sessions  []mesgdef.Session
	clock     int64 // of the newest record or event, UTC microseconds
	began     int64 // when the timer was started first; 0 when not known
	strap     strap
	intervals intervals
	aside     []*wearables.Samples // measured in an activity, and in no workout

	series   []*wearables.Samples
	counters counters
	resting  []restingHeartRate
	levels   []level
	nights   []nightly
	people   map[typedef.MessageIndex]bool // who the weights are of
}

func newPart(outcome *files.Outcome) *part {
	return &part{
		outcome: outcome, offset: wearables.NoOffset, id: *mesgdef.NewFileId(nil), sport: noSport,
		counters: newCounters(), people: map[typedef.MessageIndex]bool{},
	}
}

// messageOutcome is the outcome of a message.
type messageOutcome uint8

const (
	mapped   messageOutcome = iota
	skipped                 // it has no resource
	badDate                 // its time is missing or no time of day
	badValue                // its value is missing, or the device states that it could not measure
	tooMany
)

// OnMesg handles one message from the decoder.
func (p *part) OnMesg(m proto.Message) {
	count := p.outcome.Type(messageName(m.Num))
	count.Read++
	p.outcome.Records++
	switch p.take(&m) {
	case mapped:
		count.Mapped++
		p.outcome.Mapped++
	case skipped:
		count.Skipped++
		p.outcome.Left(count)
	case badDate:
		count.BadDate++
		p.outcome.Left(count)
		p.undated = true
	case badValue:
		count.BadValue++
		p.outcome.Left(count)
	case tooMany:
		count.TooMany++
		p.outcome.Left(count)
	}
}

// take keeps the values of a message. It does not keep the message itself.
func (p *part) take(m *proto.Message) messageOutcome {
	switch m.Num {
	case mesgnum.FileId:
		p.id.Reset(m)
		p.named = true
	case mesgnum.FileCreator:
		if v := mesgdef.NewFileCreator(m).SoftwareVersion; v != 0xFFFF {
			p.version = strconv.FormatFloat(float64(v)/100, 'f', 2, 64)
		}
	case mesgnum.Sport:
		p.takeSport(mesgdef.NewSport(m))
	case mesgnum.Activity:
		a := mesgdef.NewActivity(m)
		p.setOffset(a.Timestamp, a.LocalTimestamp)
	case mesgnum.Event:
		p.takeEvent(m)
		return skipped
	case mesgnum.Record:
		return p.takeRecord(m)
	case mesgnum.Session:
		return p.takeSession(m)
	case mesgnum.Hr:
		return p.takeStrap(mesgdef.NewHr(m))
	case mesgnum.Hrv:
		return p.takeIntervals(mesgdef.NewHrv(m))
	case mesgnum.MonitoringInfo:
		return p.takeInfo(mesgdef.NewMonitoringInfo(m))
	case mesgnum.Monitoring:
		return p.takeMonitoring(mesgdef.NewMonitoring(m))
	case mesgnum.MonitoringHrData:
		return p.takeResting(mesgdef.NewMonitoringHrData(m))
	case mesgnum.StressLevel:
		return p.takeStress(mesgdef.NewStressLevel(m))
	case mesgnum.RespirationRate:
		return p.takeBreaths(mesgdef.NewRespirationRate(m))
	case mesgnum.Spo2Data:
		return p.takeOxygen(mesgdef.NewSpo2Data(m))
	case mesgnum.HrvValue:
		return p.takeHRV(mesgdef.NewHrvValue(m))
	case mesgnum.HrvStatusSummary:
		return p.takeNight(mesgdef.NewHrvStatusSummary(m))
	case mesgnum.MaxMetData:
		return p.takeVO2(mesgdef.NewMaxMetData(m))
	case mesgnum.SleepLevel:
		return p.takeLevel(mesgdef.NewSleepLevel(m))
	case mesgnum.WeightScale:
		return p.takeWeight(mesgdef.NewWeightScale(m))
	case mesgnum.BloodPressure:
		return p.takePressure(mesgdef.NewBloodPressure(m))
	default:
		return skipped
	}
	return mapped
}

// messageName returns the Profile's name of a message, or its number, because makers have
// messages of their own.
func messageName(n typedef.MesgNum) string {
	if name := n.String(); hasName(name) {
		return name
	}
	return "message_" + strconv.Itoa(int(n))
}

// earliestTime is the least value that is a time of day. Smaller values count the seconds
// since the device was switched on.
//
// FIT Profile, date_time.
const earliestTime = 0x10000000

// instant returns a time in UTC microseconds, or false if it is missing or no time of
// day.
func instant(t time.Time) (int64, bool) {
	if t.IsZero() || datetime.ToUint32(t) < earliestTime {
		return 0, false
	}
	return t.UnixMicro(), true
}

// setOffset keeps the difference between local time and UTC, rounded to a quarter of an
// hour. If rounding changes it by more than two minutes, or it exceeds 15 hours, a clock
// is wrong. Then setOffset ignores the difference.
func (p *part) setOffset(utc, local time.Time) {
	if _, ok := instant(utc); !ok {
		return
	}
	if _, ok := instant(local); !ok {
		return
	}
	const quarter = 15 * time.Minute
	apart := local.Sub(utc)
	rounded := apart.Round(quarter)
	if (apart-rounded).Abs() <= 2*time.Minute && rounded.Abs() <= 15*time.Hour {
		p.offset = int32(rounded / time.Second)
	}
}

// fileContent holds the content of a file for the store.
type fileContent struct {
	provider   string
	recordings []files.Recording
	series     []wearables.Samples
	aside      []wearables.Samples
	resting    []restingHeartRate
	levels     []level
	nights     []nightly
	cut        bool
	source     wearables.Source
	offset     int32
}

func (f *fileContent) empty() bool {
	return len(f.recordings)+len(f.series)+len(f.aside)+len(f.resting)+len(f.levels)+len(f.nights) == 0
}

// find converts the read messages to the values to store.
func (p *part) find(ctx context.Context, owned *devices) (*fileContent, error) {
	f := &fileContent{
		provider: providerOf(p.id.Manufacturer), resting: p.resting, levels: p.levels, nights: p.nights, cut: p.cut, offset: p.offset,
	}
	if err := p.onePerson(); err != nil {
		return f, err
	}
	p.countUp()
	recordings := p.recordings()
	if len(recordings) == 1 && recordings[0].Title == "" { // of several, it is that of the last one
		recordings[0].Title = p.title
	}
	p.variability()
	if len(recordings)+len(p.series)+len(p.aside)+len(p.resting)+len(p.levels)+len(p.nights) == 0 {
		return f, nil
	}
	var err error
	if f.source, err = p.source(ctx, owned); err != nil {
		return f, err
	}
	f.series, f.aside = p.from(f.source, p.series), p.from(f.source, p.aside)
	for i := range recordings {
		kind := recordings[i].Source.Type
		recordings[i].Source = f.source
		if kind != "" {
			recordings[i].Source.Type = kind
		}
	}
	f.recordings = recordings
	return f, nil
}

// from returns the source of the file's series.
func (p *part) from(source wearables.Source, all []*wearables.Samples) (some []wearables.Samples) {
	for _, s := range all {
		s.Source = source
		s.Offset = make([]int32, s.Len())
		for i := range s.Offset {
			s.Offset[i] = p.offset
		}
		some = append(some, *s)
	}
	return some
}

// keep stores the content of the file.
func (f *fileContent) keep(ctx context.Context, s *files.Store, outcome *files.Outcome) error {
	if err := s.Samples(ctx, f.series); err != nil {
		return err
	}
	if err := s.Aside(ctx, f.aside); err != nil {
		return err
	}
	f.rest(s)
	if err := f.sleep(ctx, s); err != nil {
		return err
	}
	for i := range f.recordings {
		outcome.Workouts++
		if err := s.Recordings(ctx, f.recordings[i:i+1]); err != nil {
			return err
		}
		if len(f.recordings[i].Route) > 0 {
			outcome.Routes++
		}
	}
	return nil
}

// column returns the series of a resource, and adds it if it does not exist yet.
func (p *part) column(resource, kind string) *wearables.Samples {
	for _, s := range p.series {
		if s.Resource == resource && s.Type == kind {
			return s
		}
	}
	s := &wearables.Samples{Resource: resource, Type: kind}
	p.series = append(p.series, s)
	return s
}

// add keeps one measurement.
func (p *part) add(resource, kind string, at time.Time, value float64) messageOutcome {
	micros, ok := instant(at)
	if !ok {
		return badDate
	}
	if value != value { // NaN: the field is missing
		return badValue
	}
	s := p.column(resource, kind)
	s.Time, s.Value = append(s.Time, micros), append(s.Value, value)
	return mapped
}
