package connections

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
)

// KnownDevices tells which devices are whose, and remembers it: a device stays
// its user's for as long as either is there. DB is set before first use, which
// may be by many at once.
type KnownDevices struct {
	DB *store.DB

	mu  sync.Mutex
	of  map[users.ID]map[uuid.UUID]bool
	all int // devices in of
}

// mostKnown is how many devices are remembered before all are forgotten.
const mostKnown = 100_000

// Mark notes which sources of a batch name a device that is none of the user's:
// what they sent is refused as wearables.UnknownDevice. It asks the database only
// for devices that it does not remember.
func (k *KnownDevices) Mark(ctx context.Context, team teams.ID, user users.ID, b *wearables.Batch) error {
	strange := k.strange(user, b)
	if len(strange) == 0 {
		return nil
	}
	var known []Device
	err := k.DB.Peek(ctx, func(tx *store.Tx) (err error) {
		known, err = Devices(ctx, tx, team, user)
		return err
	})
	if err != nil {
		return err
	}
	own := k.remember(user, known)
	for _, source := range strange {
		source.Stranger = !own[*source.DeviceID]
	}
	return nil
}

// strange are the sources whose devices are not remembered as the user's.
func (k *KnownDevices) strange(user users.ID, b *wearables.Batch) (found []*wearables.Source) {
	k.mu.Lock()
	defer k.mu.Unlock()
	own := k.of[user]
	look := func(s *wearables.Source) {
		if s.DeviceID != nil && *s.DeviceID != uuid.Nil && !own[*s.DeviceID] {
			found = append(found, s)
		}
	}
	for i := range b.Samples {
		look(&b.Samples[i].Source)
	}
	for i := range b.Summaries {
		look(&b.Summaries[i].Source)
	}
	return found
}

func (k *KnownDevices) remember(user users.ID, known []Device) map[uuid.UUID]bool {
	own := make(map[uuid.UUID]bool, len(known))
	for i := range known {
		own[known[i].ID.UUID()] = true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || k.all+len(own) > mostKnown {
		k.of, k.all = map[users.ID]map[uuid.UUID]bool{}, 0
	}
	if len(own) > 0 {
		k.all += len(own) - len(k.of[user])
		k.of[user] = own
	}
	return own
}
