package garmin

import (
	"strings"

	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
)

// settings takes facts about the owner of the account. The weight in it has no day, and
// names are not read.
func (r *reader) settings(d replies.Document) replies.Verdict {
	data, p := d.Inner("userData"), &derive.Person{}
	if sex := strings.ToLower(data.Text("gender")); sex == "female" || sex == "male" {
		p.Sex = sex
	}
	if height, ok := data.Number("height"); ok && height > 30 && height < 300 { // cm
		p.Height = &height
	}
	if born, ok := data.Birth("birthDate"); ok {
		p.Birth = born
	}
	if p.Sex == "" && p.Height == nil && p.Birth.IsZero() {
		return replies.BadValue
	}
	r.Sink.Person(p)
	return replies.Mapped
}
