package apitest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// webhooks makes an endpoint and an event on its way to it, and waits until it
// has arrived. The endpoint goes with the test, since every one of a team gets
// every later event of its type.
func (s *service) webhooks(t *testing.T, f *fixture) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(receiver.Close)
	f.ids["webhook_id"] = s.field(t, "POST", "/v2/webhooks", fmt.Sprintf(`{"url":%q,"filter_types":["daily.data.heartrate.created"]}`, receiver.URL), "id")
	base := "/v2/webhooks/" + f.ids["webhook_id"]
	t.Cleanup(func() { s.send(t, request{method: "DELETE", path: base}, s.Key) })
	s.make(t, "POST", "/v2/timeseries/"+f.ids["user_id"]+"/heartrate", strings.ReplaceAll(somePush, "12:00:00", "13:00:00"))
	await(t, "an event's arrival", func() bool {
		var list struct {
			Data []struct {
				MessageID string `json:"message_id"`
				Attempts  int
			}
		}
		s.get(t, base+"/deliveries", &list)
		if len(list.Data) == 0 || list.Data[0].Attempts == 0 {
			return false
		}
		f.ids["message_id"] = list.Data[0].MessageID
		return true
	})
}
