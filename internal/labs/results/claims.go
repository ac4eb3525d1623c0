package results

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
)

// observationKey identifies the versions of one value: its code, sub-id, group of
// specimens, parent result, and the time of the reading if there are several.
type observationKey struct {
	code, sub, group string
	parent           parentKey
	reading          string
}

// parentKey identifies the result that others belong to.
type parentKey struct{ code, sub string }

// claim holds what one report has for an observation: values, or that there
// will be none.
type claim struct {
	rank     int
	report   *Report
	values   []sampledResult
	critical bool // a value is
	missing  *networks.MissingResult
	key      observationKey // of a missing result or a confirmation
}

// confirm makes the last values before a confirmation final, and reports whether
// there are any.
func (c *claim) confirm(best map[observationKey]*claim, all map[observationKey][]*claim) (found bool) {
	keys := slices.Collect(maps.Keys(all))
	meant := meantBy(c.key, keys)
	if len(meant) == 0 { // its time is perhaps that of the confirmation
		other := c.key
		other.reading = ""
		meant = meantBy(other, keys)
	}
	for _, key := range meant {
		claims := all[key]
		var last *claim
		for _, before := range claims {
			if compareTimes(before.report, c.report) <= 0 && (last == nil || before.isLaterThan(last)) {
				last = before
			}
		}
		if last == nil {
			continue
		}
		found = true
		if last.rank >= rankFinal && c.missing.Flag == "" {
			continue
		}
		final := &claim{rank: max(last.rank, rankFinal), report: c.report, values: slices.Clone(last.values)}
		for i := range final.values {
			final.values[i].finality = FinalValue
			final.values[i].Flag = cmp.Or(c.missing.Flag, final.values[i].Flag)
		}
		all[key] = append(claims, final)
		keepBest(best, key, final)
	}
	return found
}

// mayMean reports whether a statement about missing values may mean a value. A
// fact that it does not have fits any value.
func (k observationKey) mayMean(value observationKey) bool {
	fits := func(stated, own string) bool { return stated == "" || own == "" || stated == own }
	return k.code == value.code && k.group == value.group && fits(k.sub, value.sub) && fits(k.reading, value.reading) &&
		(k.parent == parentKey{} || value.parent == parentKey{} || k.parent == value.parent)
}

// meantBy returns the values that a statement means: exactly the one that it names,
// otherwise all that it may mean. A statement that fits none means the only value
// of its code.
func meantBy(k observationKey, values []observationKey) []observationKey {
	var some, ofCode []observationKey
	for _, value := range values {
		if value == k {
			return []observationKey{value}
		}
		if value.code == k.code && value.group == k.group {
			ofCode = append(ofCode, value)
		}
		if k.mayMean(value) {
			some = append(some, value)
		}
	}
	if len(some) == 0 && len(ofCode) == 1 && k.reading == "" {
		return ofCode
	}
	return some
}

// observedAt returns the time of the latest observation; zero if it is unknown. A time
// after the arrival of its report, or of a later one, does not count: the clock is wrong.
func (c *claim) observedAt(later *Report) time.Time {
	var at time.Time
	for i := range c.values {
		if one := c.values[i].At; one.Time.After(at) && !c.report.isTooLate(one, clockAhead) && !later.isTooLate(one, 0) {
			at = one.Time
		}
	}
	return at
}

// newestReading returns the latest values that are newer than every higher statement
// about the observation. For values that are not final, each final statement and each
// correction is higher. For final values, each correction is higher. Values are newer
// if two of these facts hold: the lab reported them later, it observed them later, and
// they are critical. newestReading returns nil without a higher statement, and without
// newer values. denied says that there will be no value; it may be nil.
func newestReading(all []*claim, denied *claim) *claim {
	statements := all
	if denied != nil {
		statements = append(slices.Clone(all), denied)
	}
	var newest *claim
	for _, c := range all {
		above := rankFinal
		if c.rank >= rankFinal {
			above = rankCorrected
		}
		if c.rank >= above {
			continue
		}
		higher, isNewest := false, true
		for _, s := range statements {
			if s.rank >= above {
				higher, isNewest = true, isNewest && c.supersedes(s)
			}
		}
		if higher && isNewest && (newest == nil || c.isLaterThan(newest)) {
			newest = c
		}
	}
	return newest
}

// sentAgain returns the latest final values that the lab reported after it withdrew
// the observation; nil for none.
func sentAgain(all []*claim, denied *claim) *claim {
	var last *claim
	for _, c := range all {
		if c.rank >= rankFinal && compareTimes(c.report, denied.report) > 0 && (last == nil || c.outranks(last)) {
			last = c
		}
	}
	return last
}

// flagAsValue returns the critical flag of a confirmation as a value.
func (c *claim) flagAsValue(own string) sampledResult {
	no := c.missing
	return sampledResult{
		Result: networks.Result{
			ProviderID: no.ProviderID, TestProviderID: no.TestProviderID, Name: no.Name, LOINC: no.LOINC, SubID: no.SubID,
			Value: no.Flag, Type: string(Comment), Flag: no.Flag, Status: "F", Notes: []string{no.Note},
		},
		sample: sampleKey(c.report, own), finality: FinalValue, at: c.report.reportedAt(),
	}
}

// isLaterThan compares claims by the times of their reports; of one report, the
// more final claim is the later one.
func (c *claim) isLaterThan(other *claim) bool {
	return cmp.Or(compareTimes(c.report, other.report), cmp.Compare(c.rank, other.rank)) > 0
}

// supersedes reports whether values that are not final are newer than a final
// statement.
func (c *claim) supersedes(final *claim) bool {
	later := compareTimes(c.report, final.report) > 0
	last := c.report
	if !later {
		last = final.report
	}
	at, before := c.observedAt(last), final.observedAt(last)
	observedLater := !before.IsZero() && at.After(before) || final.missing != nil && !at.IsZero() && later
	return observedLater && (later || c.critical) || later && c.critical
}

// outranks compares claims by the finality of their status, then by the times of
// their reports. Another value that a report corrects does not matter.
func (c *claim) outranks(other *claim) bool {
	return cmp.Or(cmp.Compare(c.rank, other.rank), compareTimes(c.report, other.report)) > 0
}

// The ranks of a status.
const (
	rankPreliminary = 1 + iota
	rankVerified    // by a person, not final
	rankFinal
	rankCorrected
)

// rank orders the statuses of HL7 table 0085 by finality. A result without a
// status is as final as its report.
func rank(status string, r *Report) int {
	switch strings.ToUpper(status) {
	case "P", "S", "A", "I":
		return rankPreliminary
	case "R":
		return rankVerified
	case "F", "U", "X":
		return rankFinal
	case "C", "D", "W":
		return rankCorrected
	}
	return []int{rankPreliminary, rankFinal, rankCorrected}[r.completeness()]
}

// codeOf returns the lab's code of a value. Text without a code belongs to its
// test.
func codeOf(code, loinc, test, name string) string {
	return strings.ToLower(cmp.Or(code, loinc, test+"/"+name))
}

// withPrevious returns the values of the winning claim, each with the value that it
// replaces. That is the value of the highest other claim with another value or flag,
// or otherwise of the highest with another range or note. A value that differs from
// an earlier final one is corrected, even if the lab only says final. A value that
// stays although a later report has another one keeps its status.
func (c *claim) withPrevious(all []*claim) []sampledResult {
	values := slices.Clone(c.values)
	for i := range values {
		before := c.highestOther(all, func(other *claim) bool {
			one := &other.values[i]
			return !one.hasValueOf(&values[i]) || !one.hasFlagOf(&values[i])
		})
		if before == nil {
			before = c.highestOther(all, func(other *claim) bool { return c.hasOtherContext(other, i) })
		}
		if before == nil {
			values[i].finality = c.finalityOfRepeated(all, i)
			continue
		}
		values[i].previous = &before.values[i]
		if values[i].finality == FinalValue && before.rank >= rankFinal && compareTimes(before.report, c.report) <= 0 {
			values[i].finality = CorrectedValue
		}
	}
	return values
}

// finalityOfRepeated returns the finality of a value that replaces no other
// one. A lab that corrects a report may mark every value as corrected. A value
// that only repeats an earlier final one stays final.
func (c *claim) finalityOfRepeated(all []*claim, i int) Finality {
	one := &c.values[i]
	repeats := slices.ContainsFunc(all, func(other *claim) bool {
		if other == c || other.rank < rankFinal || len(other.values) != len(c.values) {
			return false
		}
		earlier := &other.values[i]
		return earlier.Flag == one.Flag && earlier.Range == one.Range
	})
	if one.finality == CorrectedValue && repeats {
		return FinalValue
	}
	return one.finality
}

// highestOther returns the highest of the other claims that meet a condition and
// have as many values; nil for none.
func (c *claim) highestOther(all []*claim, meets func(*claim) bool) (highest *claim) {
	for _, other := range all {
		if other != c && len(other.values) == len(c.values) && meets(other) && (highest == nil || other.outranks(highest)) {
			highest = other
		}
	}
	return highest
}

// hasOtherContext reports whether the i-th value changes the range or the notes of
// an equal final value. A lab may add notes to a report without correcting it, so
// other notes count only in a correction.
func (c *claim) hasOtherContext(other *claim, i int) bool {
	if c.rank < rankFinal || other.rank < rankFinal {
		return false
	}
	one, earlier := &c.values[i], &other.values[i]
	return strings.TrimSpace(one.Range) != strings.TrimSpace(earlier.Range) || c.rank == rankCorrected && notesText(one) != notesText(earlier)
}

func notesText(r *sampledResult) string { return strings.TrimSpace(strings.Join(r.Notes, "\n")) }

// hasFlagOf reports whether two flags say the same. No flag is as good as N.
func (r *sampledResult) hasFlagOf(other *sampledResult) bool {
	code := func(printed string) string {
		if flag, known := hl7.FindFlag(printed); known {
			return flag.Code
		}
		return cmp.Or(strings.ToUpper(strings.TrimSpace(printed)), hl7.FlagNormal)
	}
	return code(r.Flag) == code(other.Flag)
}

func (r *sampledResult) hasValueOf(other *sampledResult) bool {
	return strings.TrimSpace(r.Value) == strings.TrimSpace(other.Value) && strings.TrimSpace(r.Unit) == strings.TrimSpace(other.Unit)
}

// finalityOf returns the finality of a value in a report. A corrected report
// repeats unchanged values. So a value is corrected only if its own status says
// so, or if it differs.
func finalityOf(status string, rank int) Finality {
	switch {
	case rank < rankFinal:
		return PreliminaryValue
	case rank == rankCorrected && status != "":
		return CorrectedValue
	}
	return FinalValue
}

// keepBest keeps a claim that outranks the previous one.
func keepBest[K comparable](best map[K]*claim, key K, c *claim) {
	if known := best[key]; known == nil || c.outranks(known) {
		best[key] = c
	}
}

// keyOf returns the key of the i-th value of a report.
func (r *Report) keyOf(i int) observationKey {
	if r.keys != nil {
		return r.keys[i]
	}
	return keyOf(&r.Set.Results[i])
}

// keyOfMissing returns the key of the i-th missing result of a report.
func (r *Report) keyOfMissing(i int) observationKey {
	if r.missingKeys != nil {
		return r.missingKeys[i]
	}
	return observationKey{code: missingCodeOf(&r.Set.Missing[i]), sub: r.Set.Missing[i].SubID}
}

func missingCodeOf(m *networks.MissingResult) string {
	return codeOf(m.ProviderID, m.LOINC, m.TestProviderID, m.Name)
}

func keyOf(r *networks.Result) observationKey {
	return observationKey{code: codeOf(r.ProviderID, r.LOINC, r.TestProviderID, r.Name), sub: r.SubID}
}

// reportedValue is a report's value of an observation.
type reportedValue struct {
	observationKey
	rank        int
	value, unit string
}

// claimKey separates the final values of an observation from those that are not
// final: a report may have both.
type claimKey struct {
	observationKey
	final bool
}

// claims groups a report's values by observation. One value under two tests
// counts once; two values of one code are both kept.
func claims(r *Report, own string) map[claimKey]*claim {
	all := map[claimKey]*claim{}
	before := map[reportedValue]bool{}
	for i := range r.Set.Results {
		one := &r.Set.Results[i]
		key, rank := r.keyOf(i), rank(one.Status, r)
		by := claimKey{key, rank >= rankFinal}
		c := all[by]
		if c == nil || rank > c.rank {
			c = &claim{rank: rank, report: r}
			all[by] = c
		}
		this := reportedValue{key, rank, one.Value, one.Unit}
		again := before[this] && (one.ProviderID != "" || one.LOINC != "")
		if rank == c.rank && !again {
			c.values = append(c.values, sampledResult{Result: *one, sample: cmp.Or(one.Specimen, sampleKey(r, own)), finality: finalityOf(one.Status, rank), at: r.reportedAt(), group: key.group})
			c.critical = c.critical || r.critical != nil && r.critical[i]
		}
		before[this] = true
	}
	return all
}
