package situations

import (
	"fmt"
	"slices"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// The table of situations: what phones, exports and makers' replies really send, and
// the truth that reads must give. The truth of each was written down before the code.
// Each area has its rows in a file of its own; the rows are added here.

// situation is one history of a person and its truth.
type situation struct {
	name  string
	steps []step
	want  []truth
}

func table() []situation {
	return slices.Concat(identityRows(), timeRows(), totalRows(), correctionRows(), duplicateRows(), shiftRows(), bodyRows(), noteRows(),
		deletedNightRows(), undoneImportRows(), undoneOrderRows(), confirmedImportRows(), repeatedImportRows(), lateVersionRows(), croppedZoneRows(),
		fileRecordRows(), transportedNightRows(), workoutHeartRows(), sleepTotalRows())
}

func TestSituations(t *testing.T) {
	storetest.EachAt(t, testClock, func(t *testing.T, db *store.DB) {
		s := newService(t, db)
		for _, one := range table() {
			t.Run(one.name, func(t *testing.T) {
				b := s.bed(t)
				for _, do := range one.steps {
					do(b)
				}
				for _, w := range one.want {
					w.check(b)
				}
			})
		}
	})
}

func TestSituationsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for i, one := range table() {
		if one.name == "" || seen[one.name] || len(one.want) == 0 {
			t.Error(fmt.Sprint("row ", i, " ", one.name, " has no name of its own, or no truth"))
		}
		seen[one.name] = true
	}
}
