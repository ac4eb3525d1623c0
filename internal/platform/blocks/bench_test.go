package blocks

import "testing"

var benchmarks = []struct {
	name string
	data Columns
}{
	{"heartrate-1440", heartRate(1440)},
	{"heartrate-1Hz-3600", oneHertz(3600)},
	{"irregular-3600", irregularColumns(3600)},
	{"glucose-288", glucose(288)},
	{"steps-400", steps(400)},
	{"doubles-288", doubles(288)},
}

func perSample(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/sample")
}

func BenchmarkAppend(b *testing.B) {
	for _, c := range benchmarks {
		b.Run(c.name, func(b *testing.B) {
			var dst []byte
			for b.Loop() {
				dst, _ = Append(dst[:0], &c.data)
			}
			perSample(b, c.data.Len())
			b.ReportMetric(float64(len(dst))/float64(c.data.Len()), "B/sample")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range benchmarks {
		b.Run(c.name, func(b *testing.B) {
			packed, _ := Append(nil, &c.data)
			var dst Columns
			for b.Loop() {
				dst.Reset()
				if err := Decode(&dst, packed); err != nil {
					b.Fatal(err)
				}
			}
			perSample(b, c.data.Len())
		})
	}
}

// BenchmarkUpdate measures the complete change of a stored day by five new samples.
func BenchmarkUpdate(b *testing.B) {
	day := heartRate(1440)
	five := day.Slice(700, 705)
	five.Value = []float64{1, 2, 3, 4, 5}
	packed, _ := Append(nil, &day)
	var old, merged Columns
	var ch Changes
	var dst []byte
	for b.Loop() {
		old.Reset()
		merged.Reset()
		ch.Reset()
		if err := Decode(&old, packed); err != nil {
			b.Fatal(err)
		}
		Merge(&merged, &old, &five, &ch)
		dst, _ = Append(dst[:0], &merged)
	}
}

func BenchmarkMergeDay(b *testing.B) {
	day := heartRate(1440)
	var merged Columns
	var ch Changes
	for b.Loop() {
		merged.Reset()
		ch.Reset()
		Merge(&merged, &day, &day, &ch)
	}
	perSample(b, day.Len())
}
