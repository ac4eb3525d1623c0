package polar

import (
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/files/filestest"
	"hale/internal/wearables/formats/sheet/sheettest"
)

// The account's height has no time: it is that of the day of the file's arrival, in any
// order of measurements.
func TestTheAccountsHeightIsOfToday(t *testing.T) {
	const (
		measured = `{"id":3,"transaction-id":9,"created":"2015-03-02T07:11:33.000Z","maximum-heart-rate":186,"weight":71.5,"height":170.0}`
		later    = `{"id":4,"transaction-id":9,"created":"2016-03-02T07:11:33.000Z","maximum-heart-rate":186,"weight":71.5,"height":172.0}`
		account  = `{"polar-user-id":7,"member-id":"m-1","birthdate":"1979-10-11","gender":"FEMALE","height":181}`
	)
	for name, c := range map[string]struct {
		uploads []string
		want    float64
	}{
		"measured, then the account":  {[]string{"[" + measured + "," + account + "]"}, 181},
		"the account, then measured":  {[]string{"[" + account + "," + measured + "," + later + "]"}, 181},
		"in two files":                {[]string{measured, account}, 181},
		"in two files, the other way": {[]string{account, measured}, 181},
		"without the account's":       {[]string{"[" + later + "," + measured + "]"}, 172},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				user := sheettest.User(t, db, "")
				for _, content := range c.uploads {
					sheettest.Run(t, db, Kind, user, filestest.Save(t, []byte(content)))
				}
				filestest.CompareJSON(t, filestest.Summaries(t, db, user, "profile")[0], map[string]any{"height": c.want})
			})
		})
	}
}
