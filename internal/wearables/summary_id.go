package wearables

import (
	"github.com/google/uuid"
)

// idSpace is the namespace of summary ids.
var idSpace = uuid.MustParse("7f6de3a4-31c0-5a0e-9d0e-5d6b1f2a9c48")

// SummaryID returns the id of a user's summary. It depends on the subject of the
// summary only, so every version has the same one, from any pipeline.
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

// RecordID returns the digest of a provider's own id of a record; zero without one. Of
// the same user, provider and resource, equal ids are of one record.
func RecordID(user uuid.UUID, provider, resource, id string) uuid.UUID {
	if id == "" {
		return uuid.Nil
	}
	return SummaryID(user, provider, resource, "record|"+id)
}
