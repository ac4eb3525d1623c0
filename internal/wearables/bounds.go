package wearables

import (
	"errors"
	"time"

	"hale/internal/platform/civil"
)

// Paused is the reason for which nothing of a batch is stored: the connection
// takes no data any more. It is an answer and no error, so that a phone does
// not try again for ever.
const Paused = "connection_paused"

// ErrPaused is what Connect returns for a connection that is paused. The batch
// is left out as a whole.
var ErrPaused = errors.New("wearables: the connection is paused")

// CatchUp is how long data of the days before ingestion_end is taken after it.
//
// Reference 7.10.
const CatchUp = 7 * 24 * time.Hour

// Ended says whether the collection of a user's data is over for good: the
// last day, in UTC, and the catch-up after it have passed. The zone does not
// matter for it: what is late by hours has a week.
func Ended(now time.Time, lastDay *civil.Date) bool {
	return lastDay != nil && !now.Before(lastDay.AddDays(1).In(time.UTC).Add(CatchUp))
}

// EndedBefore is the day such that collection has Ended exactly for the users
// whose last day lies before it.
func EndedBefore(now time.Time) civil.Date { return civil.DateOf(now.UTC().Add(-CatchUp)) }
