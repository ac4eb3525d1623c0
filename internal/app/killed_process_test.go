package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// These tests kill -9 a serving process right after one of its commits, before the
// caller gets its result. The process dies after the first commit, then after the
// second, and so on, until the request succeeds. The same request with the same key
// must then end with one answer.

// These environment variables turn TestServerProcess into the server.
const (
	servedURL = "HALE_TEST_SERVED_DATABASE"
	servedDir = "HALE_TEST_SERVED_DIR"
)

// TestServerProcess runs in the process that dies. It starts the service and prints its URL.
// When it reads a number n from its input, it kills its process at the n-th commit after
// that.
func TestServerProcess(t *testing.T) {
	dir := os.Getenv(servedDir)
	if dir == "" {
		t.Skip("is a process of TestProcessKilledAtEveryCommit")
	}
	var left, made atomic.Int64
	s := apptest.StartWith(t, storetest.Database{URL: os.Getenv(servedURL), Dir: dir}, func(o *app.Options) {
		o.Committed = func() {
			made.Add(1)
			if left.Add(-1) == 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // the caller does not get the result
			}
		}
	})
	fmt.Println("at " + s.URL())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		n, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for before := int64(-1); before != made.Load(); time.Sleep(time.Second) { // what starts with the process is not meant
			before = made.Load()
		}
		left.Store(n)
		fmt.Println("armed")
	}
}

// servedProcess is a process that runs TestServerProcess, and a caller of its API.
type servedProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Scanner
	url   string
}

func startServedProcess(t *testing.T, d storetest.Database) *servedProcess {
	t.Helper()
	p := &servedProcess{t: t, cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServerProcess$", "-test.v")}
	p.cmd.Env = append(os.Environ(), servedURL+"="+d.URL, servedDir+"="+d.Dir)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	p.url = strings.TrimPrefix(p.line("at "), "at ")
	return p
}

func (p *servedProcess) line(prefix string) string {
	p.t.Helper()
	for p.out.Scan() {
		if strings.HasPrefix(p.out.Text(), prefix) {
			return p.out.Text()
		}
	}
	p.t.Fatalf("the process ended before it said %q", prefix)
	return ""
}

// dieAfter makes the process die right after its n-th commit from now.
func (p *servedProcess) dieAfter(n int) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.stdin, n); err != nil {
		p.t.Fatal(err)
	}
	p.line("armed")
}

// kill ends the process, even if it has already died.
func (p *servedProcess) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// post sends a request with an idempotency key. ok is false if the process died before it
// answered.
func (p *servedProcess) post(path, body, key string) (got keyedAnswer, ok bool) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("x-service-api-key", apptest.Key)
	req.Header.Set("Idempotency-Key", key)
	res, err := (&http.Client{Timeout: 20 * time.Second}).Do(req)
	if err != nil {
		return keyedAnswer{}, false
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	return keyedAnswer{res.StatusCode, string(text), res.Header.Get("Idempotent-Replayed")}, err == nil
}

// killedRequest is a request that the test repeats for each commit at which the process can die.
type killedRequest struct {
	name string
	// prepare creates the records that the nth request needs, and returns the request.
	prepare func(c *clinic, n int) (path, body string)
	want    int
	// once fails unless the nth request took effect exactly once.
	once func(c *clinic, path, answer string)
}

var killedRequests = []killedRequest{
	{"an order", func(c *clinic, n int) (string, string) {
		return "/v3/order", strings.Replace(c.body("walk_in_test"), `{`, fmt.Sprintf(`{"passthrough":"killed-%d",`, n), 1)
	}, 200, func(c *clinic, _, answer string) {
		var made struct {
			Order struct {
				ID          string `json:"id"`
				Passthrough string `json:"passthrough"`
			} `json:"order"`
		}
		var page struct {
			Orders []struct {
				ID          string `json:"id"`
				Passthrough string `json:"passthrough"`
			}
		}
		if err := json.Unmarshal([]byte(answer), &made); err != nil {
			c.t.Fatal(err)
		}
		c.Get("/v3/orders?size=100", &page)
		var ids []string
		for _, o := range page.Orders {
			if o.Passthrough == made.Order.Passthrough {
				ids = append(ids, o.ID)
			}
		}
		if !slices.Equal(ids, []string{made.Order.ID}) {
			c.t.Errorf("the answer is of order %s, there are %v", made.Order.ID, ids)
		}
	}},
	{"an order that is refused", func(c *clinic, _ int) (string, string) {
		return "/v3/order", strings.Replace(c.body("walk_in_test"), c.user, "019f0000-0000-7000-8000-000000000000", 1)
	}, 404, func(*clinic, string, string) {}},
	{"a booking", func(c *clinic, n int) (string, string) {
		o := c.order("walk_in_test")
		c.Expect(200, "POST", "/v3/order/"+o.ID+"/test?final_status=received.walk_in_test.requisition_created", ``, nil)
		c.until(o.ID, "received.walk_in_test.requisition_created")
		var near struct {
			Places []struct {
				Code string `json:"site_code"`
			} `json:"patient_service_centers"`
		}
		c.Get("/v3/order/"+o.ID+"/psc/info?radius=50&capabilities=appointment_scheduling_via_junction", &near)
		var free freeTimes
		c.Expect(200, "POST", "/v3/order/psc/appointment/availability?lab=quest&site_codes="+near.Places[0].Code, "", &free)
		return "/v3/order/" + o.ID + "/psc/appointment/book", `{"booking_key":"` + free.key(n) + `"}`
	}, 200, func(c *clinic, path, answer string) {
		var booked, read visit
		if err := json.Unmarshal([]byte(answer), &booked); err != nil {
			c.t.Fatal(err)
		}
		c.Get(strings.TrimSuffix(path, "/book"), &read)
		if booked.Status != "confirmed" || read.ID != booked.ID || *read.Start != *booked.Start || len(read.Events) != 2 {
			c.t.Errorf("answered %+v, there is %+v", booked, read)
		}
	}},
}

// mostCommits is more than the commits of any request and of the workers that run beside
// it.
const mostCommits = 30

func TestProcessKilledAtEveryCommit(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		for _, e := range killedRequests {
			t.Run(e.name, func(t *testing.T) {
				for n := 1; n <= mostCommits; n++ {
					if !e.killed(t, d, n) {
						if n == 1 && e.want == 200 {
							t.Fatal("nothing was killed")
						}
						return
					}
				}
				t.Fatalf("it takes more than %d commits", mostCommits)
			})
		}
	})
}

// killed sends the request to a process that dies after n commits, and reports
// whether it died before it answered. Then it sends the request again.
func (e killedRequest) killed(t *testing.T, d storetest.Database, n int) bool {
	t.Helper()
	c := clinicOf(t, apptest.Start(t, d), nil, fmt.Sprintf("%s %d", e.name, n))
	path, body := e.prepare(c, n)
	key := fmt.Sprintf("%s %d", e.name, n)
	c.End()
	p := startServedProcess(t, d)
	defer p.kill()
	p.dieAfter(n)
	first, answered := p.post(path, body, key)
	p.kill()

	c.Service = apptest.Start(t, d)
	defer c.End()
	expireLeases(t, c)
	again := answerOf(t, c.Do("POST", path, body, "Idempotency-Key", key))
	third := answerOf(t, c.Do("POST", path, body, "Idempotency-Key", key))
	switch {
	case again.status != e.want:
		t.Errorf("killed after %d commits, the repeat is answered %+v", n, again)
	case third.body != again.body || third.replayed != "true":
		t.Errorf("killed after %d commits, a third time is answered\n%+v, the second\n%+v", n, third, again)
	case answered && (first.body != again.body || again.replayed != "true"):
		t.Errorf("answered\n%+v\nand again\n%+v", first, again)
	default:
		e.once(c, path, again.body)
	}
	return !answered
}

// expireLeases ends the leases of dead nodes.
func expireLeases(t *testing.T, c *clinic) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	if err := c.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM nodes WHERE started_at < (SELECT MAX(started_at) FROM nodes)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
