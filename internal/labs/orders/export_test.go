package orders

import (
	"slices"

	"hale/internal/platform/teams"
)

// Exports for package orders_test.
var (
	TransactionStatusOf = statusOf
	Erase               = erase
	UnplacedQuery       = unplacedQuery
	ScheduledQuery      = scheduledQuery
)

// Holds reports whether the index contains a name with a part.
func (x *Index) Holds(team teams.ID, part string) bool {
	patients, _ := x.teams[team].names.find(part)
	return slices.Contains(patients, true)
}
