package storage

import (
	"strconv"

	"github.com/google/uuid"

	"hale/internal/wearables"
	"hale/internal/wearables/providers"
)

// DeletedData describes deleted data of one resource for its event.
type DeletedData struct {
	Deletion          uuid.UUID // zero without a row of its own
	User              uuid.UUID
	Resource          string // its name in events
	Deleted, Restored int64
	Oldest, Newest    int64       // starts of the data, UTC microseconds
	IDs               []uuid.UUID // of summaries
	Providers         []string    // sorted
}

// DeletedSummary describes one deleted summary.
func DeletedSummary(s *StoredSummary) DeletedData {
	at := s.BeginsOrDay()
	return DeletedData{
		User: s.User, Resource: s.Resource, Deleted: 1, Oldest: at, Newest: at, IDs: []uuid.UUID{s.ID}, Providers: []string{s.Source.Provider},
	}
}

// EventType returns the type of the event.
func (d *DeletedData) EventType() string { return "daily.data." + d.Resource + ".deleted" }

// AppendTo appends the payload of the event.
func (d *DeletedData) AppendTo(dst []byte, logos providers.Logos) []byte {
	dst = wearables.AppendUUID(append(dst, `{"user_id":`...), d.User)
	if d.Deletion != uuid.Nil {
		dst = wearables.AppendUUID(append(dst, `,"deletion_id":`...), d.Deletion)
	}
	dst = wearables.AppendText(append(dst, `,"resource":`...), d.Resource)
	dst = strconv.AppendInt(append(dst, `,"deleted":`...), d.Deleted, 10)
	dst = strconv.AppendInt(append(dst, `,"restored":`...), d.Restored, 10)
	dst = wearables.AppendTime(append(dst, `,"start_date":`...), d.Oldest)
	dst = wearables.AppendTime(append(dst, `,"end_date":`...), d.Newest)
	dst = append(dst, `,"ids":[`...)
	for i, id := range d.IDs {
		dst = wearables.AppendUUID(append(dst, ","[:min(i, 1)]...), id)
	}
	source := wearables.Source{Type: "multiple_sources"}
	if len(d.Providers) == 1 {
		source = wearables.Source{Provider: d.Providers[0]}
	}
	dst = append(dst, `],"providers":[`...)
	for i, provider := range d.Providers {
		dst = wearables.AppendText(append(dst, ","[:min(i, 1)]...), provider)
	}
	return append(wearables.AppendSource(append(dst, `],"source":`...), source, logos), '}')
}
