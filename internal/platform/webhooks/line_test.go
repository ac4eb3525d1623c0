package webhooks

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/events"
	"hale/internal/platform/store/storetest"
)

// What is handed over while a claim runs is not posted by a line that was
// closed and opened before the claim ended: it does not know yet where to.
func TestHandedOverWhileClosedAndOpened(t *testing.T) {
	l := newLine(NewDeliverer(storetest.SQLite(t), Config{}), uuid.New(), EndpointID(uuid.New()))
	known := &target{revision: 1}
	l.target, l.claiming = known, true
	l.hand([]*parcel{{event: events.ID(uuid.New()), lane: laneFirst, body: []byte("{}")}}, known.revision)
	l.close()
	l.open(true)
	back := l.settle(context.Background(), &claim{known: known}, nil)
	if l.workers != 0 || !l.empty() || len(back) != 1 {
		t.Errorf("%d workers, %d parcels given back", l.workers, len(back))
	}
}
