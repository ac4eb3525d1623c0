package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
)

// eventCounter is a receiver of webhooks that counts messages by id.
type eventCounter struct {
	*httptest.Server
	mu  sync.Mutex
	got map[string]int // webhook-id -> times
}

func newEventCounter(t *testing.T) *eventCounter {
	b := &eventCounter{got: map[string]int{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.got[r.Header.Get("Webhook-Id")]++
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *eventCounter) messages() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.got)
}

// await waits until n different messages have come.
func (b *eventCounter) await(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if b.messages() >= n {
			return
		}
	}
	t.Fatalf("%d of %d messages came", b.messages(), n)
}

type feedPage struct {
	Events []struct {
		Seq int64
		ID  string
	}
	HasMore   bool  `json:"has_more"`
	NextAfter int64 `json:"next_after"`
}

// readFeedNumbers reads the whole feed and requires 1, 2, 3 … without a gap.
func readFeedNumbers(t *testing.T, a *apptest.Service) (ids []string) {
	t.Helper()
	var after int64
	for {
		var page feedPage
		a.Get(fmt.Sprintf("/v2/events?after=%d&limit=100", after), &page)
		for _, e := range page.Events {
			if after++; e.Seq != after {
				t.Fatalf("number %d where %d should be", e.Seq, after)
			}
			ids = append(ids, e.ID)
		}
		if !page.HasMore {
			return ids
		}
	}
}

// waitForNumbers waits for n events, which get their numbers soon after they are
// committed.
func waitForNumbers(t *testing.T, a *apptest.Service, n int) {
	t.Helper()
	var got int
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = len(readFeedNumbers(t, a)); got >= n {
			return
		}
	}
	t.Fatalf("%d events of %d", got, n)
}

const onePush = `{"stage":"daily","provider":"apple_health_kit","time_zone":"UTC","data":[{"timestamp":"2026-03-01T00:%02d:00+00:00","unit":"bpm","value":%d}]}`

// pushHeartRate sends one heart rate for a new user, which makes two events: the
// connection and the sample.
func pushHeartRate(t *testing.T, a *apptest.Service, name string) {
	t.Helper()
	var user struct {
		ID string `json:"user_id"`
	}
	a.Expect(200, "POST", "/v2/user/", fmt.Sprintf(`{"client_user_id": %q}`, name), &user)
	a.Expect(200, "POST", "/v2/timeseries/"+user.ID+"/heartrate", fmt.Sprintf(onePush, 1, 60), nil)
}

// Two nodes on one database share deliveries: each event arrives from one of them, and
// the numbers have no gap. When one node stops, the other continues.
func TestTwoNodesShareTheWork(t *testing.T) {
	d := storetest.NewPostgres(t)
	one := apptest.Start(t, d)
	two, stop := apptest.StartStoppable(t, d)
	box := newEventCounter(t)
	one.Expect(200, "POST", "/v2/webhooks", fmt.Sprintf(`{"url": %q, "filter_types": ["user.created", "provider.connection.created", "daily.data.heartrate.created"]}`, box.URL), nil)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { pushHeartRate(t, []*apptest.Service{one, two}[i%2], fmt.Sprint("user-", i)) })
	}
	wg.Wait()
	box.await(t, 60)
	stop()
	for i := range 10 {
		pushHeartRate(t, one, fmt.Sprint("later-", i))
	}
	box.await(t, 90)
	if ids := readFeedNumbers(t, one); len(ids) < 90 { // on a slow machine there are derived summaries too
		t.Errorf("%d events of 90 in the feed", len(ids))
	}
	for id, times := range box.got {
		if times != 1 {
			t.Errorf("%s came %d times", id, times)
		}
	}
}

// A load balancer sends the parts of a file to two nodes in turn. The node that
// received the first part is gone before the last part arrives.
func TestAnUploadContinuesAtAnotherNode(t *testing.T) {
	var file bytes.Buffer
	if _, err := applehealthtest.WriteZip(&file, applehealthtest.Options{Days: 1}); err != nil {
		t.Fatal(err)
	}
	data := file.String()
	d := storetest.NewPostgres(t)
	one := apptest.Start(t, d)
	two, stop := apptest.StartStoppable(t, d)
	var user struct {
		ID string `json:"user_id"`
	}
	one.Expect(200, "POST", "/v2/user/", `{"client_user_id": "ann"}`, &user)
	base := "/v2/user/" + user.ID
	var up struct {
		ID     string
		Offset int
		Import struct{ ID, Status string }
	}
	two.Expect(201, "POST", base+"/uploads", fmt.Sprintf(`{"size": %d}`, len(data)), &up)
	send := func(node *apptest.Service, to, want int) {
		t.Helper()
		status, body := node.Call("PATCH", base+"/uploads/"+up.ID, data[up.Offset:to], "Upload-Offset", fmt.Sprint(up.Offset), "Content-Type", "application/offset+octet-stream")
		if err := json.Unmarshal(body, &up); err != nil || status != want || up.Offset != to {
			t.Fatalf("%d %s, %v", status, body, err)
		}
	}
	send(two, 100, 200)
	send(one, 200, 200)
	send(two, 300, 200)
	stop()
	send(one, len(data), 202)
	for end := time.Now().Add(90 * time.Second); up.Import.Status != "succeeded"; time.Sleep(20 * time.Millisecond) {
		if one.Get(base+"/imports/"+up.Import.ID, &up.Import); time.Now().After(end) {
			t.Fatalf("the import is %s", up.Import.Status)
		}
	}
}

// Events that were acknowledged before a stop are delivered after the next start.
func TestAStopLosesNothing(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		first, stop := apptest.StartStoppable(t, d)
		box := newEventCounter(t)
		first.Expect(200, "POST", "/v2/webhooks", fmt.Sprintf(`{"url": %q, "filter_types": ["user.created", "provider.connection.created", "daily.data.heartrate.created"]}`, box.URL), nil)
		for i := range 10 {
			pushHeartRate(t, first, fmt.Sprint("user-", i))
		}
		stop()
		again := apptest.Start(t, d)
		box.await(t, 30)
		ids := readFeedNumbers(t, again)
		if len(ids) != 30 {
			t.Errorf("%d events of 30", len(ids))
		}
		for _, id := range ids {
			if box.got[id] == 0 {
				t.Errorf("%s never came", id)
			}
		}
	})
}

func TestAnEventOfTheFeedIsWhatTheWebhookSent(t *testing.T) {
	a := apptest.Start(t, storetest.NewSQLite(t))
	bodies := make(chan []byte, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- body
	}))
	defer receiver.Close()
	a.Expect(200, "POST", "/v2/webhooks", fmt.Sprintf(`{"url": %q, "filter_types": ["daily.data.heartrate.created"]}`, receiver.URL), nil)
	pushHeartRate(t, a, "ann")
	sent := <-bodies
	var page struct {
		Events []struct{ Event json.RawMessage }
	}
	a.Get("/v2/events?after=2", &page)
	if string(page.Events[0].Event) != string(sent) {
		t.Errorf("feed    %s\nwebhook %s", page.Events[0].Event, sent)
	}
}
