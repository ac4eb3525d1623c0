package polar

import (
	"strings"

	"hale/internal/wearables/formats/replies"
	"hale/internal/wearables/formats/sheet"
)

// physical takes the wearer's statements about the body, from the time of the
// statement.
func (r *reader) physical(doc replies.Document) replies.Verdict {
	d := spelled(doc)
	at, _, ok := d.Moment("created") // in UTC everywhere
	if !ok {
		return replies.BadDate
	}
	before, offset := r.Gather.N, r.OffsetIn("", at)
	for _, f := range []struct{ name, resource string }{{"weight", "body_weight"}, {"vo2_max", "vo2_max"}} {
		if v := d.Positive(f.name); v != nil {
			r.Gather.At(sheet.Key{Resource: f.resource, Source: app}, at.UnixMicro(), offset, *v)
		}
	}
	tall := r.height(d, at.UnixMicro())
	return replies.VerdictOf(r.Gather.N > before || tall)
}

// user takes the account. Names and the weight, which has no day, are not read.
func (r *reader) user(doc replies.Document) replies.Verdict {
	d := spelled(doc)
	known := r.height(d, 0)
	if sex := strings.ToLower(d.Text("gender")); sex == "female" || sex == "male" {
		r.person.Sex, known = sex, true
	}
	if born, ok := d.Birth("birthdate"); ok {
		r.person.Birth, known = born, true
	}
	if !known {
		return replies.BadValue
	}
	r.Sink.Person(&r.person)
	return replies.Mapped
}

// height stores a body height, given in cm. at is the time of the entry, in UTC
// microseconds. The height of the account has no time: at is 0, and the day on which the
// file arrived is used.
func (r *reader) height(d hyphenDocument, at int64) bool {
	height := d.Positive("height")
	if height == nil || *height < 30 || *height > 300 {
		return false
	}
	undated := r.person.Height != nil && r.person.HeightAt == 0
	if at == 0 || !undated && at >= r.person.HeightAt {
		r.person.Height, r.person.HeightAt = height, at
		r.Sink.Person(&r.person)
	}
	return true
}
