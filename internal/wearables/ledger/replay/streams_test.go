package replay

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/storage"
)

// trackFile returns a FIT file of a ride of half an hour, with a heart rate every ten
// seconds and the session at the end.
func trackFile() []byte {
	const epoch = 631065600 // of FIT, in Unix time
	t0 := time.Date(2024, 5, 1, 22, 30, 0, 0, time.UTC).Unix() - epoch
	var data []byte
	write := func(num uint16, fields ...[3]int64) { // number, size and value
		data = binary.LittleEndian.AppendUint16(append(data, 0x40, 0, 0), num)
		data = append(data, byte(len(fields)))
		for _, f := range fields {
			data = append(data, byte(f[0]), byte(f[1]), map[int64]byte{1: 0x02, 2: 0x84, 4: 0x86}[f[1]])
		}
		data = append(data, 0)
		for _, f := range fields {
			data = append(data, binary.LittleEndian.AppendUint64(nil, uint64(f[2]))[:f[1]]...)
		}
	}
	write(0, [3]int64{0, 1, 4}, [3]int64{1, 2, 1}, [3]int64{3, 4, 77}, [3]int64{4, 4, t0})
	for i := int64(0); i <= 1800; i += 10 {
		write(20, [3]int64{253, 4, t0 + i}, [3]int64{3, 1, 100 + i/60}, [3]int64{5, 4, 300 * i})
	}
	write(18, [3]int64{253, 4, t0 + 1800}, [3]int64{2, 4, t0}, [3]int64{7, 4, 1_800_000}, [3]int64{8, 4, 1_700_000}, [3]int64{9, 4, 540_000}, [3]int64{5, 1, 2})
	raw := binary.LittleEndian.AppendUint32([]byte{14, 0x20, 0x54, 0x08}, uint32(len(data)))
	raw = append(append(append(raw, ".FIT"...), 0, 0), data...)
	sum := uint16(0) // CRC-16 with the polynomial 0xA001
	for _, b := range raw {
		sum ^= uint16(b)
		for range 8 {
			carry := sum & 1
			if sum >>= 1; carry != 0 {
				sum ^= 0xA001
			}
		}
	}
	return binary.LittleEndian.AppendUint16(raw, sum)
}

// moments returns the number of times in the stream of each workout.
func (b *fixture) moments() (all []int) {
	b.t.Helper()
	for _, workout := range b.summaries("workouts") {
		b.write(func(tx *store.Tx) error {
			stream, err := storage.ReadStream(b.ctx, tx, &workout)
			if err == nil {
				all = append(all, len(stream.Time))
			}
			return err
		})
	}
	return all
}

// A reprocessed file that is cut off does not replace the stream of the complete file,
// even if the complete file is not reprocessed.
func TestAnInterruptedCopyIsRepeated(t *testing.T) {
	whole := trackFile()
	cut := whole[:len(whole)*55/100]
	for name, c := range map[string]struct {
		gone  func(b *fixture)
		order [][]byte // the first is gone before the second comes
	}{
		"forgotten": {(*fixture).removePayloads, [][]byte{whole, cut}},
		"canceled": {func(b *fixture) {
			b.write(func(tx *store.Tx) error {
				_, err := tx.Exec(b.ctx, `UPDATE imports SET status = 'canceled' WHERE team_id = $1`, b.user.Team)
				return err
			})
		}, [][]byte{whole, cut}},
		"both there":               {func(*fixture) {}, [][]byte{whole, cut}},
		"both there, cut first":    {func(*fixture) {}, [][]byte{cut, whole}},
		"the cut one is forgotten": {(*fixture).removePayloads, [][]byte{cut, whole}},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				b := newFixture(t, db)
				b.upload(c.order[0])
				c.gone(b)
				b.upload(c.order[1])
				if got := b.moments(); !slices.Equal(got, []int{181}) {
					t.Fatalf("%v moments", got)
				}
				b.expectUnchanged("read again", Order{Every: true})
				b.stale()
				b.expectUnchanged("by another mapping", Order{})
				if got := b.moments(); !slices.Equal(got, []int{181}) {
					t.Errorf("read again: %v moments", got)
				}
			})
		})
	}
}
