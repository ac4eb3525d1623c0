package wearables

// AppendPlain appends the samples of all sources as one JSON array in order of
// time, as the deprecated reads have it: nothing in it tells sources apart.
// Each part must be in order of time.
//
// Reference 7.7.
func AppendPlain(dst []byte, all []Samples, spill Spill) []byte {
	next := make([]int, len(all))
	writers := make([]*sampleWriter, len(all))
	for i := range all {
		writers[i] = newSampleWriter(&all[i])
	}
	dst = append(dst, '[')
	for first := true; ; first = false {
		at := -1
		for i := range all {
			if next[i] < all[i].Len() && (at < 0 || all[i].Time[next[i]] < all[at].Time[next[at]]) {
				at = i
			}
		}
		if at < 0 {
			return append(dst, ']')
		}
		if !first {
			dst = append(dst, ',')
		}
		dst = spill(writers[at].append(dst, next[at]))
		next[at]++
	}
}
