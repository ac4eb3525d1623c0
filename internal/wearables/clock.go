package wearables

// What encoders beside this package need, so that all of them write alike.

// Clock appends instants as the wire has them; neighbours share the text of
// their day.
type Clock struct{ clock clock }

// Append appends an instant, UTC microseconds, without quotes.
func (c *Clock) Append(dst []byte, us int64) []byte { return c.clock.append(dst, us) }

// AppendNumber appends a JSON number; what JSON cannot say is null.
func AppendNumber(dst []byte, f float64) []byte { return appendNumber(dst, f) }

// AppendOffset appends seconds east of UTC; NoOffset is null.
func AppendOffset(dst []byte, offset int32) []byte { return appendOffset(dst, offset) }

// AppendWord appends a JSON text; the empty one is null.
func AppendWord(dst []byte, s string) []byte { return appendTextOrNull(dst, s) }
