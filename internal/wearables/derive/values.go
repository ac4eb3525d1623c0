package derive

import (
	"encoding/json"
	"math"
	"time"

	"hale/internal/wearables"
)

// rounded rounds to a number of decimals. It happens once, at the edge: sums
// are made from full values.
func rounded(v float64, decimals int) *float64 {
	p := math.Pow10(decimals)
	r := math.Round(v*p) / p
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return nil
	}
	return &r
}

func roundedOf(v *float64, decimals int) *float64 {
	if v == nil {
		return nil
	}
	return rounded(*v, decimals)
}

// whole rounds to an integer.
func whole(v float64) *int64 {
	if math.IsNaN(v) || math.Abs(v) > 1<<53 {
		return nil
	}
	n := int64(math.Round(v))
	return &n
}

func wholeOf(v *float64) *int64 {
	if v == nil {
		return nil
	}
	return whole(*v)
}

// encode writes a body. The types of this package hold nothing that JSON can
// not say.
func encode(body any) json.RawMessage {
	raw, err := json.Marshal(body)
	if err != nil {
		panic("derive: " + err.Error())
	}
	return raw
}

// instant is a moment of a session.
func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// sessionKey tells the sessions of one provider apart: by their start and who
// recorded them, never by their end or values, which are revised.
func sessionKey(start int64, s wearables.Source) string {
	return instant(start).Format("2006-01-02T15:04:05.999999Z") + "|" + originOf(s).key()
}

// offsetOrNil is nil for an offset that nobody stated.
func offsetOrNil(offset int32) *int32 {
	if offset == wearables.NoOffset {
		return nil
	}
	return &offset
}
