package healthconnect

import (
	"context"
	"slices"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
)

const (
	sleepTable  = "sleep_session_record_table"
	stagesTable = "sleep_stages_table"
)

// These bound the nights that wait for the end of the file; a life has fewer.
const (
	maxNights = 100_000
	maxStages = 1 << 19
)

// stages maps the platform's codes to ours. Unknown and sleeping are sleep without a
// stage. Out of bed and awake in bed are awake.
//
// The day of a night is the day of waking up. The platform's local_date is the day of
// falling asleep, so the reader ignores it.
var stages = map[int64]int8{
	0: derive.Asleep, 1: derive.Awake, 2: derive.Asleep, 3: derive.Awake,
	4: derive.Light, 5: derive.Deep, 6: derive.REM, 7: derive.Awake,
}

// night is one session.
type night struct {
	record
	segments []derive.Segment
}

// readSleep reads the sessions of sleep and their stages.
func (m *importer) readSleep(ctx context.Context) error {
	nights, order, err := m.readNights(ctx)
	if err := m.overDamage(err); err != nil {
		return err
	}
	if err := m.overDamage(m.readStages(ctx, nights)); err != nil {
		return err
	}
	sleepers := map[wearables.Source]*derive.Sleeper{}
	var all []*derive.Sleeper
	for _, id := range order {
		n := nights[id]
		source := m.sources.of(n.app, n.device, n.method)
		s := sleepers[source]
		if s == nil {
			s = &derive.Sleeper{Source: source}
			sleepers[source] = s
			all = append(all, s)
		}
		s.Add(n.id, n.whole())
	}
	for _, s := range all {
		m.store.Sleep(s)
	}
	return nil
}

// whole returns the session as segments. Its bounds are the time in bed, and without
// stages all of it is sleep.
func (n *night) whole() []derive.Segment {
	bed := derive.Segment{Start: n.start, End: n.end, Offset: n.offset, Stage: derive.InBed}
	if len(n.segments) > 0 {
		return append([]derive.Segment{bed}, n.segments...)
	}
	asleep := bed
	asleep.Stage = derive.Asleep
	return []derive.Segment{bed, asleep}
}

func (m *importer) readNights(ctx context.Context) (nights map[int64]*night, order []int64, err error) {
	nights = map[int64]*night{}
	if !m.db.has(sleepTable, "start_time", "end_time") {
		return nights, nil, nil
	}
	count := m.outcome.Type(name(sleepTable))
	err = m.db.query(ctx, m.db.sessions(sleepTable, "NULL, NULL"), sessionColumns, func(row []any) error {
		m.outcome.Records++
		count.Read++
		id, one, ok := m.session(row)
		switch {
		case !ok:
			count.BadDate++
			m.outcome.Left(count)
			return nil
		case len(nights) >= maxNights:
			count.TooMany++
			m.outcome.Left(count)
			return nil
		}
		nights[id] = &night{record: one}
		order = append(order, id)
		count.Mapped++
		m.outcome.Report.Mapped++
		return nil
	})
	return nights, order, err
}

func (m *importer) readStages(ctx context.Context, nights map[int64]*night) error {
	if !m.db.has(stagesTable, "parent_key", "stage_start_time", "stage_end_time", "stage_type") {
		return nil
	}
	count := m.outcome.Type(name(stagesTable))
	text := `SELECT parent_key, stage_start_time, stage_end_time, stage_type FROM ` + stagesTable
	kept := 0
	err := m.db.query(ctx, text, 4, func(row []any) error {
		m.outcome.Records++
		count.Read++
		id, _ := integer(row[0])
		start, ok := moment(row[1])
		end, good := moment(row[2])
		code, known := integer(row[3])
		stage, named := stages[code]
		n := nights[id]
		switch {
		case !ok, !good, end <= start:
			count.BadDate++
			m.outcome.Left(count)
		case !known, !named:
			count.BadValue++
			m.outcome.Left(count)
		case n == nil:
			count.Unpaired++
			m.outcome.LeftAt(count, count.Read, "unpaired")
		case kept >= maxStages:
			count.TooMany++
			m.outcome.Left(count)
		default:
			kept++
			n.segments = append(n.segments, derive.Segment{Start: start, End: end, Offset: n.offset, Stage: stage})
			count.Mapped++
			m.outcome.Report.Mapped++
		}
		return nil
	})
	for _, n := range nights {
		slices.SortStableFunc(n.segments, func(a, b derive.Segment) int { return int(min(max(a.Start-b.Start, -1), 1)) })
	}
	return err
}

// sessions selects the records of a table of sessions in order of time, with two
// additional columns.
func (db *database) sessions(table, more string) string {
	return `SELECT rowid, ` + db.column(table, "", "app_info_id") + `, ` + db.column(table, "", "device_info_id") + `, ` +
		db.column(table, "", "recording_method") + `, start_time, ` + db.column(table, "", "start_zone_offset") + `, end_time, ` +
		db.column(table, "", "end_zone_offset") + `, ` + db.column(table, "", "uuid") + `, ` + more + ` FROM ` + table + ` ORDER BY start_time`
}

const sessionColumns = 11

// session reads the common fields of sleep and workouts. A night's offset is that of
// waking, a workout's that of its start, so the caller chooses.
func (m *importer) session(row []any) (id int64, one record, ok bool) {
	id, ok = integer(row[0])
	one.app, _ = integer(row[1])
	one.device, _ = integer(row[2])
	one.method, _ = integer(row[3])
	var good, later bool
	one.start, good = moment(row[4])
	one.end, later = moment(row[6])
	one.offset = m.zones.of(one.app, one.end, row[7])
	one.id = identifier(row[8])
	return id, one, ok && good && later && one.end > one.start
}
