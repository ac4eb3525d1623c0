package wearables

import (
	"errors"
	"time"

	"hale/internal/platform/civil"
)

// Paused is the reason for which nothing of a batch is stored: the connection takes
// no more data. It is not an error, so that a phone does not retry forever.
const Paused = "connection_paused"

// ErrPaused refuses a batch as a whole, because the connection is paused.
var ErrPaused = errors.New("wearables: the connection is paused")

// CatchUp is the time after ingestion_end in which data of earlier days is accepted.
//
// Reference 7.10.
const CatchUp = 7 * 24 * time.Hour

// Ended reports whether the collection of a user's data has ended: the last day, in
// UTC, and CatchUp after it have passed. Zones do not matter with a week of CatchUp.
func Ended(now time.Time, lastDay *civil.Date) bool {
	return lastDay != nil && !now.Before(lastDay.AddDays(1).In(time.UTC).Add(CatchUp))
}

// EndedBefore returns a day: collection has ended for users whose last day is before
// it.
func EndedBefore(now time.Time) civil.Date { return civil.DateOf(now.UTC().Add(-CatchUp)) }
