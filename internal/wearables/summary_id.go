package wearables

import (
	"github.com/google/uuid"
)

// idSpace is the namespace of summary ids.
var idSpace = uuid.MustParse("7f6de3a4-31c0-5a0e-9d0e-5d6b1f2a9c48")

// SummaryID is the id of a user's summary. It depends only on what the
// summary is about, so that every later version has the same one, whichever
// pipeline brought it.
//
// Spec: Events, summary events ("identified by its id").
func SummaryID(user uuid.UUID, provider, resource, key string) uuid.UUID {
	name := make([]byte, 0, 128)
	name = append(name, user[:]...)
	for _, part := range []string{provider, resource, key} {
		name = append(append(name, part...), 0)
	}
	return uuid.NewSHA1(idSpace, name)
}
