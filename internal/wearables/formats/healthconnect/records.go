package healthconnect

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"hale/internal/wearables"
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/files"
	"hale/internal/wearables/formats/sheet"
)

// record is one row of a table.
type record struct {
	app, device, method int64
	start, end          int64 // UTC microseconds
	offset              int32
	value, value2       float64
	source              string // of glucose: the source type of its specimen
	where               string // of a thermometer
	id                  string // the platform's; empty for one of the samples of a series
}

// withoutID returns the record without its id, to compare the contents of two.
func (r *record) withoutID() record {
	plain := *r
	plain.id = ""
	return plain
}

// statement selects the rows of a rule's table in order of time. So copies are
// adjacent, and blocks of samples fill one after the other. It finds a series'
// record by its rowid, which is unique.
func (db *database) statement(r *rule) (text string, ok bool) {
	at, offset := r.clock()
	table, prefix, from := r.table, "", r.table
	if r.shape == series {
		if !db.has(r.table, "parent_key", "epoch_millis", r.value) {
			return "", false
		}
		table, prefix = r.parent, "p."
		from = r.table + ` s JOIN ` + r.parent + ` p ON p.rowid = s.parent_key`
	}
	end := "NULL"
	if r.shape == span || r.shape == length {
		end = "end_time"
	}
	needed := []string{at}
	for _, c := range []string{end, r.value, r.value2} {
		if c != "" && c != "NULL" && r.shape != series {
			needed = append(needed, c)
		}
	}
	if !db.has(table, needed...) {
		return "", false
	}
	start, value, value2 := at, r.value, r.value2
	if r.shape == series {
		start, value = "s.epoch_millis", "s."+r.value
	}
	if value == "" {
		value = "NULL"
	}
	if value2 == "" {
		value2 = "NULL"
	}
	id := "NULL" // a year of heart rate would have millions
	if r.shape != series {
		id = db.column(table, prefix, "uuid")
	}
	location := "NULL"
	if r.where != nil {
		location = db.column(table, prefix, "measurement_location")
	}
	return `SELECT ` + db.column(table, prefix, "app_info_id") + `, ` + db.column(table, prefix, "device_info_id") + `, ` +
		db.column(table, prefix, "recording_method") + `, ` + start + `, ` + db.column(table, prefix, offset) + `, ` +
		end + `, ` + value + `, ` + value2 + `, ` + location + `, ` + id + ` FROM ` + from + ` ORDER BY ` + start, true
}

// statementColumns counts the columns that a statement selects.
const statementColumns = 10

// read reads a table. It keeps data before damage, and the next table is still read.
func (m *importer) read(ctx context.Context, r *rule) error {
	text, ok := m.db.statement(r)
	if !ok {
		return nil
	}
	var count *files.TypeCount // an empty table is no type of the file
	var group []record
	err := m.db.query(ctx, text, statementColumns, func(row []any) error {
		if count == nil {
			count = m.outcome.Type(name(r.table))
		}
		one, ok := m.record(r, row, count)
		if !ok {
			return nil
		}
		if r.shape != span {
			return m.take(ctx, r, &one, count)
		}
		if len(group) > 0 && (group[0].start != one.start || len(group) > longestGroup) {
			if err := m.takeAll(ctx, r, group, count); err != nil {
				return err
			}
			group = group[:0]
		}
		group = append(group, one)
		return nil
	})
	if err == nil || errors.Is(err, errDamaged) {
		err = errors.Join(m.takeAll(ctx, r, group, count), err)
	}
	return m.overDamage(err)
}

// overDamage counts damage to the file and continues.
func (m *importer) overDamage(err error) error {
	if errors.Is(err, errDamaged) {
		m.outcome.Damaged++
		m.outcome.Truncated = true
		return nil
	}
	return err
}

// record reads a row. It ignores rows without the value, such as a meal without caffeine,
// and counts bad rows.
func (m *importer) record(r *rule, row []any, count *files.TypeCount) (one record, ok bool) {
	if r.value != "" && row[6] == nil {
		return one, false
	}
	one.app, _ = integer(row[0])
	one.device, _ = integer(row[1])
	one.method, _ = integer(row[2])
	one.id = identifier(row[9])
	var good bool
	if one.start, good = moment(row[3]); good {
		one.end = one.start
		if row[5] != nil {
			one.end, good = moment(row[5])
		}
	}
	bad := func(why *int64) (record, bool) {
		m.outcome.Records++
		count.Read++
		*why++
		return record{}, false
	}
	if !good || one.end < one.start {
		return bad(&count.BadDate)
	}
	one.offset = m.zones.of(one.app, one.start, row[4])
	if r.value == "" {
		one.value = float64(one.end-one.start) / 60e6
		return one, true
	}
	one.value, good = number(row[6])
	if r.shape == pair && good {
		one.value2, good = number(row[7])
	}
	if !good {
		return bad(&count.BadValue)
	}
	if r.category == nutrition && math.Abs(one.value) < 1e-300 {
		return record{}, false // the platform's value for an unknown kind of meal
	}
	one.value *= r.times
	one.source = specimen(row[7])
	if n, ok := integer(row[8]); ok && n > 0 && n < int64(len(r.where)) {
		one.where = r.where[n]
	}
	return one, true
}

// takeAll stores records that start together, without copies. It adds up food and drink.
func (m *importer) takeAll(ctx context.Context, r *rule, group []record, count *files.TypeCount) error {
	group = m.withoutCopies(group, r.category)
	if r.category == nutrition {
		group = m.meal(group, count)
	}
	for _, one := range group {
		if err := m.take(ctx, r, &one, count); err != nil {
			return err
		}
	}
	return nil
}

// meal holds the food of each source at one moment. Diaries list food by food, while a
// series has one value at a time. The sum of several records has no id.
func (m *importer) meal(group []record, count *files.TypeCount) (whole []record) {
	slices.SortStableFunc(group, func(a, b record) int { return cmp.Compare(a.value, b.value) }) // so that sums are the same to the last digit
	known := map[wearables.Source]int{}
	for _, one := range group {
		source := m.sources.of(one.app, one.device, one.method)
		i, ok := known[source]
		if !ok {
			known[source] = len(whole)
			whole = append(whole, one)
			continue
		}
		sum := &whole[i]
		sum.value += one.value
		sum.end, sum.offset, sum.id = max(sum.end, one.end), max(sum.offset, one.offset), ""
		m.outcome.Records++
		m.outcome.Report.Mapped++
		count.Read++
		count.Mapped++
	}
	return whole
}

// take adds a record to its series, or to the facts about the day or the person.
func (m *importer) take(ctx context.Context, r *rule, one *record, count *files.TypeCount) error {
	m.outcome.Records++
	count.Read++
	used := m.workouts.add(r.effort, one)
	if r.resource == "" && r.shape == span && !used {
		count.Skipped++
		m.outcome.Left(count)
		return nil
	}
	count.Mapped++
	m.outcome.Report.Mapped++
	source := m.sources.of(one.app, one.device, one.method)
	key := sheet.Key{Resource: r.resource, Type: r.kind, Extra: one.where, Source: source}
	switch r.shape {
	case span, length:
		if r.resource != "" {
			m.gather.Span(key, one.start, one.end, one.offset, one.value)
			m.gather.Record(key, one.id)
		}
	case pair:
		m.gather.Pair(key, one.start, one.offset, one.value, one.value2)
		m.gather.Record(key, one.id)
	case restingHeartRate:
		value := one.value
		m.store.Fact(localDate(one.start, one.offset), derive.DayFacts{RestingBPM: &value})
	case height:
		if value := one.value; m.person.Height == nil || one.start >= m.person.HeightAt {
			m.person.Height, m.person.HeightAt = &value, one.start
		}
	case glucose:
		key = one.measured(key)
		m.gather.At(key, one.start, one.offset, one.value)
		m.gather.Record(key, one.id)
	case point, series:
		m.gather.At(key, one.start, one.offset, one.value)
		m.gather.Record(key, one.id)
	}
	return m.flush(ctx, false)
}

// measured adds the source of a glucose value: a sensor or a drop of blood. A typed value
// keeps its source.
func (one *record) measured(key sheet.Key) sheet.Key {
	if one.source == "" || key.Source.Type == "app" {
		return key
	}
	key.Source.Type = one.source
	if one.source == "automatic" {
		key.Type = "automatic"
	}
	return key
}

// specimen returns the source type of a glucose record. Sensors measure interstitial
// fluid, and capillary blood is a drop from a finger. It returns "" for other sources.
func specimen(v any) string {
	switch v {
	case int64(1), "1":
		return "automatic"
	case int64(2), "2":
		return "fingerprick"
	}
	return ""
}

// flush stores the gathered values if there are enough for a batch, or at the end.
func (m *importer) flush(ctx context.Context, end bool) error {
	if m.gather.N == 0 || m.gather.N < sheet.FlushSize && !end {
		return nil
	}
	m.reportProgress()
	return m.store.Samples(ctx, m.gather.Take())
}

// Apps that read from Health Connect and write the same data back make a second record
// with the same start, end and value. The record of the device's own app stays; the
// copy is left out and counted. A record that is repeated word for word is one as well:
// some programs write JSON without ids.
//
// Measurements are not compared: two apps may measure the same pulse, and every app's
// samples are a series of their own.

// longestGroup bounds the number of compared records with one start; more than a few
// are no mirror.
const longestGroup = 64

// withoutCopies leaves out the copies among records with the same start.
func (m *importer) withoutCopies(group []record, category int64) []record {
	if len(group) < 2 || len(group) > longestGroup {
		return group
	}
	kept := group[:0:0]
	for i := range group {
		r := &group[i]
		mirrored := slices.ContainsFunc(group, func(o record) bool {
			return o.app != r.app && o.end == r.end && o.value == r.value && m.better(&o, r, category)
		})
		repeated := slices.ContainsFunc(kept, func(o record) bool { return o.withoutID() == r.withoutID() })
		if mirrored || repeated {
			m.outcome.Copies++
			continue
		}
		kept = append(kept, *r)
	}
	return kept
}

// better reports whether a, and not its copy b, is the original. The first difference
// decides:
//
//   - a device recorded it
//   - the person's order of apps
//   - it states how it was recorded
//   - its app was added earlier, and has the lower row number
func (m *importer) better(a, b *record, category int64) bool {
	if x, y := a.recorded(), b.recorded(); x != y {
		return x
	}
	if x, y := m.sources.rank(category, a.app), m.sources.rank(category, b.app); x != y {
		return x < y
	}
	if x, y := a.method != 0, b.method != 0; x != y {
		return x
	}
	return a.app < b.app
}

// recorded reports whether a device made the record by itself.
func (r *record) recorded() bool {
	return (r.method == methodAutomatic || r.method == methodActive) && r.device != 0
}
