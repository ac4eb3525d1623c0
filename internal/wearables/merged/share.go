package merged

import "slices"

// Several apps of a provider may send a sample of one key, as apps do that copy each
// other. The sample that was stored last counts. A line has it once, in the place of the
// best of these sources. The others keep its time for their spacing: a source whose
// samples others repeat measures as often as before.
//
// Spec: Events, timeseries events: the compound key.

// sample is a sample of a track; no track means none.
type sample struct {
	*track
	at int
}

// sample returns the track and the position of the sample that counts for sample i.
func (t *track) sample(i int) (of *track, at int) {
	if t.latest == nil {
		return t, i
	}
	return t.latest[i].track, t.latest[i].at
}

// isLost reports whether another track has sample i in the line.
func (t *track) isLost(i int) bool { return t.latest != nil && t.latest[i].track == nil }

func (t *track) value(i int) float64 {
	t, i = t.sample(i)
	return t.Value[i]
}

// shares reports whether a source has a sample with the key of sample i.
func (t *track) shares(i, source int) bool {
	if t.latest == nil {
		return false
	}
	return slices.ContainsFunc(t.sharing, func(o *track) bool {
		if o.source != source {
			return false
		}
		k, found := slices.BinarySearch(o.Time, t.Time[i])
		return found && o.span(k) == t.span(i)
	})
}

// share finds the samples of one key in tracks, which are sorted, best first.
func (r *reader) share(l *line, tracks []*track) {
	for n, t := range tracks {
		if t.sharing != nil {
			continue
		}
		all := []*track{t}
		for _, o := range tracks[n+1:] {
			if !slices.ContainsFunc(all, func(known *track) bool { return !r.haveOneKey(known, o) }) {
				all = append(all, o)
			}
		}
		if len(all) > 1 {
			r.shareKeys(l, all)
		}
	}
}

// haveOneKey reports whether samples of two tracks have one key if they have one time.
func (r *reader) haveOneKey(t, o *track) bool {
	a, b := &r.series[t.source], &r.series[o.source]
	return a.HasKeyOf(b) && a.Source.IsAppleExport() == b.Source.IsAppleExport()
}

// shareKeys finds samples with the same key in tracks of one source. There, samples have
// the same key if they have the same time. Intervals with different ends are different
// samples; merging counts their common time once.
func (r *reader) shareKeys(l *line, all []*track) {
	for _, t := range all {
		t.sharing = all
	}
	next := make([]int, len(all))
	same := make([]sample, 0, len(all))
	for {
		same = same[:0]
		for n, t := range all {
			if next[n] == t.Len() {
				continue
			}
			if len(same) > 0 && t.Time[next[n]] < same[0].time() {
				same = same[:0]
			}
			if len(same) == 0 || t.Time[next[n]] == same[0].time() {
				same = append(same, sample{t, next[n]})
			}
		}
		if len(same) == 0 {
			return
		}
		for n, t := range all {
			if next[n] < t.Len() && t.Time[next[n]] == same[0].time() {
				next[n]++
			}
		}
		for len(same) > 1 {
			span := same[0].span(same[0].at)
			other := func(s sample) bool { return s.span(s.at) != span }
			r.shareKey(l, slices.DeleteFunc(slices.Clone(same), other))
			same = slices.DeleteFunc(same, func(s sample) bool { return !other(s) })
		}
	}
}

func (s sample) time() int64 { return s.Time[s.at] }

// shareKey gives the sample of one key that was stored last to the best of its tracks. Of
// levels, a track that measures continuously is better than others: see addLevels. An
// explanation sets the earlier samples aside.
func (r *reader) shareKey(l *line, same []sample) {
	if len(same) < 2 {
		return
	}
	home, last := 0, 0
	if !r.sums {
		home = max(0, slices.IndexFunc(same, func(s sample) bool { return s.isContinuous(s.at) }))
	}
	for n, s := range same {
		if s.storedAt() >= same[last].storedAt() {
			last = n
		}
		if s.latest == nil {
			s.latest = make([]sample, s.Len())
			for i := range s.latest {
				s.latest[i] = sample{s.track, i}
			}
		}
	}
	for n, s := range same {
		if l.explain && n != last {
			l.add(s.piece(s.at, s.span(s.at), same[last].source))
		}
		if s.latest[s.at] = (sample{}); n == home {
			s.latest[s.at] = same[last]
		}
	}
}

func (s sample) storedAt() int64 {
	if s.written == nil {
		return 0
	}
	return s.written[s.at]
}
