package blocks

import "math"

// Decode appends the samples of a block to dst, and fills optional columns that only
// one of the two has. Any input is safe: a damaged block returns an error and leaves
// dst unchanged.
func Decode(dst *Columns, data []byte) error {
	r := reader{data: data}
	h, l, err := r.header()
	if err != nil {
		return err
	}
	kept := *dst
	if h.Count > 0 {
		dst.fill(l.flags)
		r.columns(dst, h, l)
	}
	if r.failed || len(r.data) > 0 {
		*dst = kept
		return errDamaged
	}
	return nil
}

func (r *reader) columns(dst *Columns, h Header, l layout) {
	n, at := h.Count, dst.Len()
	s := takeScratch()
	defer s.free()

	dst.Time = extend(dst.Time, n)
	t := dst.Time[at:]
	r.times(t, h.First, l.unit, s)
	dst.Value = r.values(dst.Value, n, l.scale)

	if l.flags&flagEnd != 0 {
		dst.End = extend(makeRoom(dst.End, cap(dst.Time)), n)
		r.ends(dst.End[at:], t, s)
	} else if dst.hasEnd() {
		dst.End = append(dst.End, t...)
	}
	if l.flags&flagOffset != 0 {
		dst.Offset = extend(makeRoom(dst.Offset, cap(dst.Time)), n)
		r.offsets(dst.Offset[at:])
	} else if dst.hasOffset() {
		dst.Offset = appendSame(dst.Offset, NoOffset, n)
	}
	if l.flags&flagValue2 != 0 {
		dst.Value2 = r.values(makeRoom(dst.Value2, cap(dst.Time)), n, r.byte())
	} else if dst.hasValue2() {
		dst.Value2 = appendSame(dst.Value2, math.NaN(), n)
	}
	if l.flags&flagWritten != 0 {
		dst.Written = extend(makeRoom(dst.Written, cap(dst.Time)), n)
		r.written(dst.Written[at:], s)
	} else if dst.hasWritten() {
		dst.Written = appendSame(dst.Written, 0, n)
	}
}

// makeRoom allocates a new optional column with the capacity of the time column.
func makeRoom[T any](s []T, room int) []T {
	if cap(s) == 0 {
		return make([]T, 0, room)
	}
	return s
}

func (r *reader) times(t []int64, first int64, unit uint64, s *scratch) {
	t[0] = first
	if len(t) == 1 {
		return
	}
	s.steps64 = resizeSlice(s.steps64, len(t)-1)
	r.uints(s.steps64)
	if r.failed {
		return
	}
	now := first
	for i, step := range s.steps64 {
		next := now + int64(step*unit)
		if next <= now {
			r.fail()
			return
		}
		t[i+1], now = next, next
	}
}

func (r *reader) ends(end, t []int64, s *scratch) {
	unit := r.uvarint()
	s.steps64 = resizeSlice(s.steps64, len(t))
	r.uints(s.steps64)
	if r.failed {
		return
	}
	for i, d := range s.steps64 {
		end[i] = t[i] + int64(d*unit)
	}
}

func (r *reader) written(dst []int64, s *scratch) {
	dst[0] = r.varint()
	s.steps64 = resizeSlice(s.steps64, len(dst)-1)
	r.uints(s.steps64)
	if r.failed {
		return
	}
	for i, d := range s.steps64 {
		dst[i+1] = dst[i] + unzigzag(d)
	}
}

func (r *reader) offsets(dst []int32) {
	for len(dst) > 0 {
		x, n := r.varint(), r.uvarint()
		if r.failed || n == 0 || n > uint64(len(dst)) || x != int64(int32(x)) {
			r.fail()
			return
		}
		for i := range dst[:n] {
			dst[i] = int32(x)
		}
		dst = dst[n:]
	}
}
