package strava

import (
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/replies"
)

// athlete takes the sex of the owner of the account. A weight without a day is no
// measurement. Names, places and pictures are not read.
func (m *reader) athlete(d replies.Document) replies.Verdict {
	m.Homeless("athlete", d, "weight")
	sex := map[string]string{"F": "female", "M": "male"}[d.Text("sex")]
	if sex == "" {
		return replies.BadValue
	}
	m.Sink.Person(&derive.Person{Sex: sex})
	return replies.Mapped
}
