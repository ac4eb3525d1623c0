package webhooks

import (
	"testing"

	"github.com/google/uuid"

	"hale/internal/platform/store/storetest"
)

// Of an endpoint that has stopped answering, the workers that are too many go
// without using up what its rate allows to the others.
func TestAWorkerTooManyPaysNothing(t *testing.T) {
	d := NewDeliverer(storetest.SQLite(t), Config{})
	l := newLine(d, uuid.New(), EndpointID(uuid.New()))
	l.bucket.setRate(1)
	l.queues[laneFirst].push(&parcel{})
	l.window, l.workers = fewest, fewest+1
	if l.pay() || l.workers != fewest || l.bucket.tokens != 1 {
		t.Errorf("%d workers, %v tokens", l.workers, l.bucket.tokens)
	}
	if !l.pay() || l.workers != fewest || l.bucket.tokens != 0 {
		t.Errorf("one that has room: %d workers, %v tokens", l.workers, l.bucket.tokens)
	}
}
