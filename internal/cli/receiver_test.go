package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// testReceiver receives webhooks for scripts. It answers 204 on /hook to posts that are
// signed with one of its secrets, 401 to other posts, and 500 on /bad.
type testReceiver struct {
	mu      sync.Mutex
	secrets []*standardwebhooks.Webhook
	good    int
}

const receiverKey = "RECEIVER"

var receivers sync.Map // *testReceiver, by URL

// receiverOf returns the receiver that a script started.
func receiverOf(ts *testscript.TestScript) *testReceiver {
	r, ok := receivers.Load(ts.Getenv(receiverKey))
	if !ok {
		ts.Fatalf("no receiver runs")
	}
	return r.(*testReceiver)
}

func (r *testReceiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.URL.Path == "/bad" {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	for _, secret := range r.secrets {
		if secret.Verify(body, q.Header) == nil {
			r.good++
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	w.WriteHeader(http.StatusUnauthorized)
}

// receive starts a receiver and sets RECEIVER to its URL.
func receive(ts *testscript.TestScript, _ bool, _ []string) {
	r := &testReceiver{}
	server := httptest.NewServer(r)
	ts.Defer(server.Close)
	receivers.Store(server.URL, r)
	ts.Setenv(receiverKey, server.URL)
}

// verify adds a secret to the receiver: `verify whsec_…`.
func verify(ts *testscript.TestScript, _ bool, args []string) {
	secret, err := standardwebhooks.NewWebhook(args[0])
	ts.Check(err)
	r := receiverOf(ts)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, secret)
}

// checkReceived waits until the receiver has had a number of valid posts: `received 4`.
func checkReceived(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	r := receiverOf(ts)
	awaitIn(ts, "posts to arrive", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.good >= want
	})
}

// runEventually runs a command until its output matches.
func runEventually(ts *testscript.TestScript, _ bool, args []string) {
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	awaitIn(ts, args[0], func() bool {
		ts.Check(ts.Exec(args[1], args[2:]...))
		return pattern.MatchString(ts.ReadFile("stdout"))
	})
}

func awaitIn(ts *testscript.TestScript, what string, fn func() bool) {
	for range 3600 {
		if fn() {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	ts.Fatalf("waited in vain for %s", what)
}
