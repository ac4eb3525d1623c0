package push

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hale/internal/platform/rows"
)

// splitSamples inserts a space between samples, so that the parser cannot read a sample
// by its likeness to the previous one.
func splitSamples(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte("},{"), []byte("}, {"))
}

// sameEitherWay compares the fast and the full parsing of a body. It also checks that the
// packed rows unpack to the same body.
func sameEitherWay(body []byte) error {
	got, err := Parse(body, insulin)
	want, wantErr := Parse(splitSamples(body), insulin)
	if (err == nil) != (wantErr == nil) || err != nil && wantErr != nil && trimPosition(err) != trimPosition(wantErr) {
		return fmt.Errorf("gives %w, with care %w", err, wantErr)
	}
	if err != nil {
		return nil
	}
	text := got.Rows
	got.Rows, want.Rows = nil, nil
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })); diff != "" {
		return fmt.Errorf("with care (-) and by looks (+):\n%s", diff)
	}
	if text == nil {
		return nil
	}
	packed, err := text.Pack(nil)
	if err != nil { // times are not in order
		return nil //nolint:nilerr // such a body is kept otherwise
	}
	back, err := rows.Unpack(nil, packed, len(body))
	if err != nil || !bytes.Equal(back, body) {
		return fmt.Errorf("came back as\n%s\n%w", back, err)
	}
	return nil
}

// trimPosition returns the text of a fault without its position in bytes.
func trimPosition(err error) string {
	text, _, _ := strings.Cut(err.Error(), " near byte ")
	return text
}

// sampleForms are the ways in which apps write samples: %s is an instant or a number.
var sampleForms = []string{
	`{"timestamp":"%TZ","value":%N,"unit":"bpm","source_type":"watch"}`,
	`{"timestamp":"%TZ","value":%N}`,
	`{"value":%N,"startDate":"%T+02:00","endDate":"%E+02:00","sourceBundle":"com.example","productType":"Watch6,1"}`,
	`{"timestamp":"%T.500Z","end":"%E.500Z","value":%N,"timezone_offset":3600}`,
	`{"timestamp":"%T-0330","end":"%E-0330","value":%N,"source":{"type":"phone"}}`,
	`{"timestamp":"%TZ","end":"%E+01:00","value":%N}`,
	`{"timestamp":"%TZ","value":%N,"value":%N}`,
	`{"timestamp":"%TZ","value":{"value":%N,"unit":"bpm"}}`,
	`{"timestamp":"%TZ","systolic":%N,"diastolic":80}`,
	`{"timestamp":"%TZ","systolic":%N}`,
	`{ "timestamp" : "%TZ" , "value" : %N }`,
	`{"timestamp":"%TZ","value":%N,"note":"a,{}\u00e9 %T"}`,
	`{"timestamp":"%t","value":%N}`,
	`{"timestamp":"%TZ","value":%N,"delivery_mode":"bolus","bolusPurpose":"meal"}`,
	`{"timestamp":null,"start":"%TZ","end":null,"value":%N}`,
}

func TestSimilarSamples(t *testing.T) {
	var kept int
	rapid.Check(t, func(t *rapid.T) {
		list := drawAlike(t)
		body := body("[" + strings.Join(list, ",") + "]")
		if err := sameEitherWay(body); err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		if got, err := Parse(body, insulin); err == nil && got.Rows != nil {
			kept++
		}
	})
	if kept == 0 {
		t.Error("no body was kept as rows")
	}
}

// drawAlike draws a list of samples in which most samples look like the previous one.
func drawAlike(t *rapid.T) (list []string) {
	number := rapid.OneOf(
		rapid.StringMatching(`[1-9][0-9]{0,2}`), rapid.StringMatching(`[1-9]\.[1-9]`), rapid.StringMatching(`[1-9]\.0`),
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?([eE][+-]?[0-9]{1,2})?`),
		rapid.SampledFrom([]string{"0", "0.0", "0.0001", "007", "1.", "null", "12345678901234567", `"7"`}),
	)
	steady := rapid.Bool().Draw(t, "steady")
	look := rapid.SampledFrom(sampleForms).Draw(t, "look")
	numbers := rapid.SampledFrom([]*rapid.Generator[string]{number, rapid.StringMatching(`[1-9][0-9]`), rapid.StringMatching(`[1-9]\.[0-9]`)}).Draw(t, "numbers")
	at := micros("2024-02-28T22:00:00Z")
	for range rapid.IntRange(1, 60).Draw(t, "n") {
		if !steady && rapid.IntRange(0, 20).Draw(t, "turn") == 0 {
			look = rapid.SampledFrom(sampleForms).Draw(t, "look")
		}
		at += rapid.SampledFrom([]int64{60e6, 60e6, 3600e6, 86400e6}).Draw(t, "step")
		if !steady && rapid.IntRange(0, 30).Draw(t, "back") == 0 {
			at -= 7200e6
		}
		list = append(list, strings.NewReplacer(
			"%T", clock(at), "%t", rapid.SampledFrom([]string{clock(at) + "Z", strings.Replace(clock(at), "T", " ", 1) + "Z", "2024-02-30T00:00:00Z"}).Draw(t, "odd"),
			"%E", clock(at+60e6), "%N", numbers.Draw(t, "number"),
		).Replace(look))
	}
	return list
}

func clock(us int64) string {
	var c rows.Clock
	return string(c.Append(nil, us))
}

// The bodies that phones send are parsed as rows. Otherwise the test above would compare
// little.
func TestBodiesOfOneShapeAreRows(t *testing.T) {
	for i, look := range sampleForms[:5] {
		var list []string
		for k := range 40 {
			at := micros("2024-02-28T23:50:00Z") + int64(k)*60e6
			list = append(list, strings.NewReplacer("%T", clock(at), "%E", clock(at+60e6), "%N", fmt.Sprint(70+k)).Replace(look))
		}
		body := body("[" + strings.Join(list, ",") + "]")
		got, err := Parse(body, insulin)
		if err != nil || got.Rows == nil || got.Rows.Columns.Len() != 40 {
			t.Errorf("look %d: %+v, %v", i, got, err)
			continue
		}
		if text, _ := got.Rows.Append(nil, len(body)); !bytes.Equal(text, body) {
			t.Errorf("look %d came back as %s", i, text)
		}
	}
}

func FuzzRepeatedRecords(f *testing.F) {
	for _, look := range sampleForms {
		one := strings.NewReplacer("%T", "2024-02-28T23:50:00", "%E", "2024-02-28T23:51:00", "%N", "72.5", "%t", "2024-02-28T23:50:00Z").Replace(look)
		f.Add(one, strings.Replace(one, "72.5", "8", 1), one)
	}
	f.Fuzz(func(t *testing.T, first, second, third string) {
		all := body("[" + first + "," + strings.Repeat(second+",", 16) + third + "]")
		if strings.Contains(first+second+third, "},{") || strings.Contains(first+second+third, "}, {") {
			return // the space would be inside of a sample
		}
		if err := sameEitherWay(all); err != nil {
			t.Fatalf("%v\n%s", err, all)
		}
	})
}
