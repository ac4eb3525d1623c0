package replay

import (
	"testing"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// An earlier version stated the day of a session. The session has that day when
// all of its versions are reprocessed, whether the session is still stored or
// not.
func TestADayThatWasStatedBefore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newFixture(t, db)
		const bounds = `{"bedtime_start":"2026-02-01T15:00:00Z","bedtime_stop":"2026-02-01T23:30:00Z",`
		b.pushSummaries("sleep", bounds+`"calendar_date":"2026-02-02"},`+bounds+`"hr_average":55}`)
		b.changesNothing("while it is stored", 1)
		b.write(func(tx *store.Tx) error {
			_, err := tx.Exec(b.ctx, `DELETE FROM summaries WHERE team_id = $1 AND user_id = $2`, b.user.Team, b.user.ID)
			return err
		})
		b.run(Order{Every: true})
		if all := b.summaries("sleep"); len(all) != 1 || all[0].StatedDay() != civil.MustParse("2026-02-02") {
			t.Errorf("read again it is %d sleeps, %+v", len(all), all)
		}
	})
}
