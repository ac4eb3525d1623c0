package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hale/internal/cli/client"
	"hale/internal/platform/fault"
)

// A reader of the feed sends the id of the last event that it has. So a server
// that was restored from a backup cannot return other events under numbers that
// the reader has.
func TestFollowingNamesTheLastEvent(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, q.Get("after")+" "+q.Get("after_id"))
		if len(asked) > 1 {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = fmt.Fprint(w, `{"detail":[{"type":"value_error","loc":["query","after_id"],"msg":"given again to another event","input":"msg_b"}]}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"events":[{"seq":4,"id":"msg_a"},{"seq":5,"id":"msg_b"}],"next_after":5,"next_after_id":"msg_b","last":5,"has_more":false}`)
	}))
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	var came []string
	err = feed{server: c}.follow(t.Context(), 3, func(e feedEvent) error {
		came = append(came, e.ID)
		return nil
	})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "another event") {
		t.Errorf("it ended with %v", err)
	}
	if got := strings.Join(append(asked, came...), "|"); got != "3 |5 msg_b|msg_a|msg_b" {
		t.Errorf("asked for and given: %s", got)
	}
}
