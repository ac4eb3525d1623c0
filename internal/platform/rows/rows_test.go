package rows_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/platform/blocks"
	"hale/internal/platform/rows"
)

var steps = rows.Table{
	Head:   []byte(`[{"start":"`),
	Fields: []rows.Field{rows.Start, rows.End, rows.Offset, rows.Value, rows.Decimal, rows.Value2},
	Separators: [][]byte{
		[]byte(`Z","end":"`), []byte(`Z","offset":`), []byte(`,"v":`), []byte(`,"d":`), []byte(`,"w":`), []byte(`},{"start":"`),
	},
	Tail: []byte(`}]`),
	Columns: blocks.Columns{
		Time:   []int64{0, 951_782_399_000_000, 951_782_400_250_000},
		End:    []int64{60_000_000, 951_782_400_000_000, 951_782_401_000_000},
		Offset: []int32{blocks.NoOffset, 7200, -1800},
		Value:  []float64{72, 72.5, 1e-7},
		Value2: []float64{math.NaN(), -3, 1e21},
	},
}

// Databases contain this format, so it must stay readable. If this test fails, the
// format has changed: add a new kind of Field for the new notation instead.
func TestFormatIsStable(t *testing.T) {
	const text = `[{"start":"1970-01-01T00:00:00Z","end":"1970-01-01T00:01:00Z","offset":null,"v":72,"d":72.0,"w":null},` +
		`{"start":"2000-02-28T23:59:59Z","end":"2000-02-29T00:00:00Z","offset":7200,"v":72.5,"d":72.5,"w":-3},` +
		`{"start":"2000-02-29T00:00:00.250000Z","end":"2000-02-29T00:00:01Z","offset":-1800,"v":1e-07,"d":1e-07,"w":1e+21}]`
	if got, n := steps.Append(nil, math.MaxInt); string(got) != text || n != 3 {
		t.Errorf("written as\n%s\nnot\n%s", got, text)
	}
	packed, err := steps.Pack(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(packed); got != packedSteps {
		t.Errorf("packed as\n%s\nnot\n%s", got, packedSteps)
	}
	old, err := hex.DecodeString(packedSteps)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := rows.Unpack([]byte("x"), old, 1000); err != nil || string(got) != "x"+text {
		t.Errorf("unpacked as\n%s\n%v", got, err)
	}
}

const packedSteps = "01000b5b7b227374617274223a22027d5d06010a5a222c22656e64223a22020c5a222c226f6666736574223a03052c2276223a04052c22" +
	"64223a06052c2277223a050c7d2c7b227374617274223a220107030090a10f0748afbc9af2d77a3e0000000000205240e5af3500001062" +
	"4000fcdfb0970e01050100000000000052404bc0833dbdf26acadfa3f80190a10f010308ed0100ffffffff0f01c070018f1c0107010000" +
	"000000f87f037f000000000000fc6f50efe2d6e41a4384"

// A text from the standard library comes back from its columns.
func TestAgainstTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, want := drawTable(t)
		got, n := text.Append(nil, math.MaxInt)
		if string(got) != want || n != text.Columns.Len() {
			t.Fatalf("written as\n%s\nnot\n%s", got, want)
		}
		packed, err := text.Pack([]byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := rows.Unpack(nil, packed[1:], len(want)); err != nil || string(again) != want {
			t.Fatalf("unpacked as\n%s\nnot\n%s\n%v", again, want, err)
		}
		if _, err := rows.Unpack(nil, packed[1:], len(want)-1); err == nil {
			t.Fatal("more was unpacked than allowed")
		}
		most := rapid.IntRange(0, len(want)).Draw(t, "most")
		part, n := text.Append(nil, most)
		text.Columns = text.Columns.Slice(0, n)
		if all, _ := text.Append(nil, math.MaxInt); !bytes.Equal(part, all) || len(part) > most && n > 1 {
			t.Fatalf("%d rows in %d bytes of %d", n, len(part), most)
		}
	})
}

// drawTable returns a Table and its text, written with the standard library.
func drawTable(t *rapid.T) (rows.Table, string) {
	kinds := []rows.Field{rows.Start, rows.End, rows.Offset, rows.Value, rows.Value2, rows.Decimal}
	text := rows.Table{
		Head: []byte("<"), Tail: []byte(">"), Fields: rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 5).Draw(t, "fields"),
		Shift: rapid.SampledFrom([]int64{0, 7200e6, -1_500_000}).Draw(t, "shift"),
	}
	for i := range text.Fields {
		text.Separators = append(text.Separators, []byte(strings.Repeat("|", i)+";"))
	}
	c := &text.Columns
	number := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(-2000, 2000), func(i int) float64 { return float64(i) / 10 }))
	at := rapid.Int64Range(-1e15, 4e15).Draw(t, "first")
	for range rapid.IntRange(1, 40).Draw(t, "n") {
		at += rapid.SampledFrom([]int64{1, 60e6, 3600e6, 90_000e6}).Draw(t, "step")
		c.Time, c.End = append(c.Time, at), append(c.End, at+rapid.Int64Range(0, 1e12).Draw(t, "length"))
		c.Offset = append(c.Offset, rapid.SampledFrom([]int32{blocks.NoOffset, 0, 3600, -18000}).Draw(t, "offset"))
		c.Value, c.Value2 = append(c.Value, number.Draw(t, "value")), append(c.Value2, number.Draw(t, "value2"))
	}
	var want strings.Builder
	want.WriteString("<")
	for i := range c.Time {
		for k, field := range text.Fields {
			want.WriteString(standardText(&text, field, i))
			if k+1 < len(text.Fields) || i+1 < len(c.Time) {
				want.Write(text.Separators[k])
			}
		}
	}
	return text, want.String() + ">"
}

func standardText(text *rows.Table, field rows.Field, i int) string {
	c := &text.Columns
	switch field {
	case rows.Start, rows.End:
		us := c.Time[i]
		if field == rows.End {
			us = c.End[i]
		}
		at := time.UnixMicro(us + text.Shift).UTC()
		if at.Nanosecond() == 0 {
			return at.Format("2006-01-02T15:04:05")
		}
		return at.Format("2006-01-02T15:04:05.000000")
	case rows.Offset:
		if c.Offset[i] == blocks.NoOffset {
			return "null"
		}
		return fmt.Sprint(c.Offset[i])
	case rows.Value, rows.Value2, rows.Decimal:
	}
	v := c.Value[i]
	if field == rows.Value2 {
		v = c.Value2[i]
	}
	number := strconv.FormatFloat(v, 'g', -1, 64)
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		number = strconv.FormatFloat(v, 'f', -1, 64)
		if field == rows.Decimal {
			number += ".0"
		}
	}
	if v == 0 {
		number = strings.TrimPrefix(number, "-")
	}
	return number
}

func TestPackRefusesInvalidTables(t *testing.T) {
	for name, change := range map[string]func(*rows.Table){
		"out of order": func(t *rows.Table) { slices.Reverse(t.Columns.Time) },
		"year 10000":   func(t *rows.Table) { t.Columns.Time[2] = 253_402_300_800_000_000 },
		"year -1":      func(t *rows.Table) { t.Shift = -62_167_219_201_000_000 },
		"uneven":       func(t *rows.Table) { t.Columns.Value = t.Columns.Value[:2] },
		"no fields":    func(t *rows.Table) { t.Fields, t.Separators = nil, nil },
		"other fields": func(t *rows.Table) { t.Fields = []rows.Field{9}; t.Separators = t.Separators[:1] },
		"few between":  func(t *rows.Table) { t.Separators = t.Separators[1:] },
	} {
		text := steps
		text.Columns.Time, text.Columns.Value = slices.Clone(steps.Columns.Time), slices.Clone(steps.Columns.Value)
		change(&text)
		if _, err := text.Pack(nil); err == nil {
			t.Errorf("%s was packed", name)
		}
	}
}

// No input makes Unpack panic or return more than the maximum.
func FuzzUnpack(f *testing.F) {
	packed, _ := steps.Pack(nil)
	f.Add(packed)
	f.Add([]byte{rows.Mark})
	f.Fuzz(func(t *testing.T, packed []byte) {
		const most = 1 << 16
		text, err := rows.Unpack(nil, packed, most)
		if err == nil && len(text) > most {
			t.Errorf("%d bytes became %d", len(packed), len(text))
		}
	})
}
