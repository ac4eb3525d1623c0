package blocks

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzDecode checks that any bytes decode to columns or an error, and that these
// columns can be encoded and decoded again.
func FuzzDecode(f *testing.F) {
	for _, c := range []Columns{
		{},
		heartRate(300), irregularColumns(40), steps(200), doubles(30),
		{Time: []int64{1}, Value: []float64{math.NaN()}, Value2: []float64{1}},
		{Time: []int64{1, 2, 3}, Value: []float64{4, 5, 6}, Written: []int64{9, 9, 8}},
	} {
		packed, err := Append(nil, &c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c, again Columns
		if err := Decode(&c, data); err != nil {
			if c.Len() > 0 {
				t.Fatal("a refused block left samples behind")
			}
			return
		}
		packed, err := Append(nil, &c)
		if err != nil {
			t.Fatal(err)
		}
		if err := Decode(&again, packed); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, &again, &c)
	})
}

// FuzzRoundTrip checks that columns of arbitrary bits decode bit for bit.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("sixteen bytes...sixteen bytes..."), byte(7))
	f.Fuzz(func(t *testing.T, data []byte, columns byte) {
		want := rawColumns(data, columns)
		packed, err := Append(nil, &want)
		if err != nil {
			return
		}
		var got Columns
		if err := Decode(&got, packed); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, &got, &want)
	})
}

func rawColumns(data []byte, columns byte) Columns {
	var c Columns
	at := int64(-1 << 40)
	for ; len(data) >= 16; data = data[16:] {
		a, b := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		at += int64(a%(1<<30)) + 1
		c.Time = append(c.Time, at)
		c.Value = append(c.Value, math.Float64frombits(b))
		if columns&flagEnd != 0 {
			c.End = append(c.End, int64(b))
		}
		if columns&flagOffset != 0 {
			c.Offset = append(c.Offset, int32(a))
		}
		if columns&flagValue2 != 0 {
			c.Value2 = append(c.Value2, float64(b>>50)/100)
		}
		if columns&flagWritten != 0 {
			c.Written = append(c.Written, int64(a))
		}
	}
	return c
}
