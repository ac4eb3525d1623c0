package orders

import (
	"slices"

	"hale/internal/platform/teams"
)

// For tests of package orders_test.
var (
	TransactionStatusOf = statusOf
	Erase               = erase
	UnplacedQuery       = unplacedQuery
)

// Holds reports whether the index has a name of a team's orders with a part.
func (x *Index) Holds(team teams.ID, part string) bool {
	patients, _ := x.teams[team].names.find(part)
	return slices.Contains(patients, true)
}
