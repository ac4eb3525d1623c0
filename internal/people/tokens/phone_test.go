package tokens_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// phone is an app on a phone, with its access token once it is signed in.
type phone struct {
	t     *testing.T
	url   string
	user  string
	token string
}

func (p *phone) send(method, path string, body []byte, headers ...string) (int, []byte) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, text
}

// pushAnswer is the answer to a batch.
type pushAnswer struct {
	Created, Updated, Unchanged int
	Rejected                    []any
}

// push sends a batch of heart rates, in gzip, as a phone does.
func (p *phone) push(samples []string, headers ...string) (got pushAnswer) {
	p.t.Helper()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprintf(z, `{"stage":"daily","provider":"health_connect","time_zone":"Europe/Helsinki","data":[%s]}`, strings.Join(samples, ","))
	if err := z.Close(); err != nil {
		p.t.Fatal(err)
	}
	status, text := p.send("POST", "/v2/timeseries/"+p.user+"/heartrate", zipped.Bytes(), append(headers, "Content-Encoding", "gzip")...)
	if status != http.StatusOK {
		p.t.Fatalf("a batch of %d was answered %d: %.300s", len(samples), status, text)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		p.t.Fatal(err)
	}
	return got
}

// read counts and adds the samples of all pages.
func (p *phone) read() (n int, sum float64) {
	p.t.Helper()
	for cursor := ""; ; {
		status, text := p.send("GET", "/v2/timeseries/"+p.user+"/heartrate/grouped?start_date=2026-01-01"+cursor, nil)
		if status != http.StatusOK {
			p.t.Fatalf("%d: %.300s", status, text)
		}
		var page struct {
			Groups map[string][]struct{ Data []struct{ Value float64 } }
			Next   *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(text, &page); err != nil {
			p.t.Fatal(err)
		}
		for _, g := range page.Groups["health_connect"] {
			for _, s := range g.Data {
				n, sum = n+1, sum+s.Value
			}
		}
		if page.Next == nil {
			return n, sum
		}
		cursor = "&next_cursor=" + *page.Next
	}
}

// A phone signs in with a code, sends three months of heart rates, sends them again
// in other batches, renews its tokens and reads.
func TestPhoneSendsAndReads(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		var user struct {
			ID string `json:"user_id"`
		}
		s.Expect(200, "POST", "/v2/user", `{"client_user_id":"ann"}`, &user)
		var code struct{ Code string }
		s.Expect(200, "POST", "/v2/link/code/create?user_id="+user.ID, "", &code)

		p := &phone{t: t, url: s.URL(), user: user.ID}
		var pair struct {
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
		}
		get := func(path, body string) {
			t.Helper()
			status, text := p.send("POST", path, []byte(body))
			if status != http.StatusOK || json.Unmarshal(text, &pair) != nil {
				t.Fatalf("%s was answered %d: %s", path, status, text)
			}
			p.token = pair.Access
		}
		get("/v2/link/exchange", `{"code":"`+code.Code+`"}`)

		const many = 100_000
		all := make([]string, many)
		sum := 0.0
		for i := range all {
			at := time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
			all[i] = fmt.Sprintf(`{"timestamp":%q,"value":%d,"source_type":"watch","source_app_id":"com.example"}`, at.Format(time.RFC3339), 50+i%90)
			sum += float64(50 + i%90)
		}
		if got := p.push(all, "Idempotency-Key", "batch-1"); got.Created != many || len(got.Rejected) != 0 {
			t.Fatalf("the first time %+v", got)
		}
		before := heartRateEvents(s)
		if got := p.push(all, "Idempotency-Key", "batch-1"); got.Created != many {
			t.Errorf("under the same key %+v", got)
		}
		for i := 0; i < many; i += 40_000 { // other batches, newest first
			part := all[max(0, many-i-40_000) : many-i]
			if got := p.push(part); got.Unchanged != len(part) || got.Created+got.Updated != 0 {
				t.Errorf("in other batches %+v", got)
			}
		}
		get("/v2/link/refresh", `{"refresh_token":"`+pair.Refresh+`"}`)
		if n, total := p.read(); n != many || total != sum {
			t.Errorf("read %d samples, in all %g, not %d and %g", n, total, many, sum)
		}
		if n := heartRateEvents(s); n != before || n == 0 {
			t.Errorf("%d events, then %d", before, n)
		}
		if status, _ := p.send("GET", "/v2/user/"+user.ID, nil); status != http.StatusForbidden {
			t.Errorf("the phone read the user's record: %d", status)
		}
	})
}

// heartRateEvents counts the events about heart rates, once no more arrive.
func heartRateEvents(s *apptest.Service) (n int) {
	for quiet := 0; quiet < 3; quiet++ {
		var found int
		for after, more := 0, true; more; {
			var page struct {
				Events []struct {
					Event struct {
						Type string `json:"event_type"`
					}
				}
				Next int  `json:"next_after"`
				More bool `json:"has_more"`
			}
			s.Get(fmt.Sprintf("/v2/events?limit=1000&after=%d", after), &page)
			for _, e := range page.Events {
				if strings.HasPrefix(e.Event.Type, "daily.data.heartrate.") {
					found++
				}
			}
			after, more = page.Next, page.More
		}
		if found != n {
			n, quiet = found, 0
		}
		time.Sleep(100 * time.Millisecond)
	}
	return n
}
