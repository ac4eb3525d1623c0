package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/cli/progress"
	"hale/internal/platform/fault"
	"hale/internal/platform/webhooks"
)

func (s *shell) listenCommand() *cobra.Command {
	var forwardTo, secretText string
	var types []string
	var after int64
	var printSecret bool
	c := s.calls(&cobra.Command{
		Use: "listen", Short: "print events as they happen, or forward them to a receiver",
		Long: `Print events as they happen, one line each; -o json prints whole events. With
--forward-to, post them to a receiver on this machine, with the signature and the
headers of a webhook. The command reads the event feed, so the server does not need
to reach this machine.

It starts with the next event, or after the number given by --after, and runs until
Ctrl-C. It posts the events in their order and prints a line for each. While the
receiver does not answer, or answers with another status than 2xx, the command waits
and posts the same event again. The last line has the number for --after with which
the next run continues. The number of a refused event skips it.

The signing secret is derived from the API key and stays the same. --print-secret
prints only the secret.`,
		Example: examples(
			"hale listen",
			"hale listen --forward-to http://127.0.0.1:9000/hook",
			"hale listen --forward-to http://127.0.0.1:9000/hook --types daily.data.sleep.created --after 0",
			"export WEBHOOK_SECRET=$(hale listen --print-secret)",
		),
		Args: wantArgs(),
	})
	flags := c.Flags()
	flags.StringVar(&forwardTo, "forward-to", "", "URL of the receiver; without it, events are printed")
	flags.StringVar(&secretText, "secret", "", "whsec_ secret for the signature (default: derived from the API key)")
	flags.BoolVar(&printSecret, "print-secret", false, "print the signing secret and exit")
	flags.Int64Var(&after, "after", 0, "start after this event number instead of now")
	addTypes(c, &types)
	c.RunE = func(c *cobra.Command, _ []string) error {
		secret, err := s.listenSecret(secretText)
		if err != nil {
			return err
		}
		if printSecret {
			fmt.Fprintln(s.out, secret.Reveal())
			return nil
		}
		target := ""
		if forwardTo != "" {
			if target, err = receiver("--forward-to", forwardTo); err != nil {
				return err
			}
		}
		f, err := s.feed(types)
		if err != nil {
			return err
		}
		if !c.Flags().Changed("after") {
			if after, err = s.lastNumber(c.Context()); err != nil {
				return err
			}
		}
		s.say("signing secret: %s", secret.Reveal())
		if target == "" {
			s.say("printing events after number %d; stop with Ctrl-C", after)
			s.sayEarlier(c, after)
			return followError(f.follow(c.Context(), after, s.printEvent))
		}
		l := newListener(s, target, secret, after)
		s.say("forwarding events after number %d to %s; stop with Ctrl-C", after, target)
		s.sayEarlier(c, after)
		err = followError(f.follow(c.Context(), after, func(e feedEvent) error { return l.forward(c.Context(), e) }))
		l.printTotals()
		return err
	}
	return c
}

// sayEarlier says how to begin with earlier events, if the command begins with the next one.
func (s *shell) sayEarlier(c *cobra.Command, after int64) {
	if after > 0 && !c.Flags().Changed("after") {
		s.say("to begin with earlier events, add --after 0")
	}
}

// receiver checks the URL of a flag.
func receiver(flag, text string) (string, error) {
	target, err := url.Parse(text)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return "", badUsagef("%s must be a URL, such as http://127.0.0.1:9000/hook", flag)
	}
	return target.String(), nil
}

// listenSecret returns the given secret. If text is empty, it derives a secret from the
// API key.
func (s *shell) listenSecret(text string) (webhooks.Secret, error) {
	if text != "" {
		secret, err := webhooks.ParseSecret(text)
		if err != nil {
			return secret, badUsagef("--secret %w", err)
		}
		return secret, nil
	}
	key := s.apiKey()
	if key == "" {
		return webhooks.Secret{}, withHint(fault.New(fault.Unauthenticated, "no API key"), "set HALE_API_KEY to a live key; hale keys create creates one")
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("hale listen"))
	return webhooks.ParseSecret("whsec_" + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// listener posts events to one receiver.
type listener struct {
	s      *shell
	target string
	signer *webhooks.Signer
	http   *http.Client

	sent    int
	next    int64  // number of the last event that was posted or skipped
	waiting string // why the receiver has not accepted the event; empty if it has
}

// newListener returns a listener for the events after a number.
func newListener(s *shell, target string, secret webhooks.Secret, after int64) *listener {
	return &listener{
		s: s, target: target, next: after,
		signer: webhooks.NewSigner([]webhooks.ValidSecret{{Secret: secret}}),
		http: &http.Client{
			Timeout:       webhooks.Timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// forwardedEvent is the output line of one event.
type forwardedEvent struct {
	Seq    int64  `json:"seq"`
	ID     string `json:"id"`
	Type   string `json:"event_type"`
	Status int    `json:"status"` // 0 for an event that is not posted
	Error  string `json:"error,omitempty"`
	Millis int64  `json:"took_ms"`
}

// forward posts one event, until the receiver accepts it.
func (l *listener) forward(ctx context.Context, e feedEvent) error {
	line := forwardedEvent{Seq: e.Seq, ID: e.ID, Type: e.Type}
	if len(e.Event) == 0 || string(e.Event) == "null" {
		l.next = e.Seq
		line.Error = cmp.Or(e.Problem, "the user has been erased")
		return l.print(line)
	}
	began := l.s.now()
	status, err := l.post(ctx, e)
	for tries, pause := 1, time.Second; status < 200 || status > 299; tries, pause = tries+1, min(2*pause, 10*time.Second) {
		if ctx.Err() != nil { // interrupted: the outcome is unknown
			return ctx.Err()
		}
		problem := fmt.Sprintf("it answers %d", status)
		if status == 0 {
			problem = err.Error()
		}
		l.sayWaiting(e, problem, tries)
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		began = l.s.now()
		status, err = l.post(ctx, e)
	}
	l.sayAccepted()
	l.next = e.Seq
	l.sent++
	line.Status, line.Millis = status, l.s.now().Sub(began).Milliseconds()
	if err != nil {
		line.Error = err.Error()
	}
	return l.print(line)
}

// sayWaiting says why the receiver has not accepted an event: on a terminal in one line
// that changes, otherwise once for each reason.
func (l *listener) sayWaiting(e feedEvent, problem string, tries int) {
	if l.s.terminal {
		fmt.Fprintf(l.s.err, "\r\x1b[Kwaiting for the receiver: %s; %s; event %d is next", problem, pluralOf(tries, "attempt"), e.Seq)
	} else if problem != l.waiting {
		l.s.say("waiting for the receiver: %s; event %d is next", problem, e.Seq)
	}
	l.waiting = problem
}

// sayAccepted ends the line of sayWaiting.
func (l *listener) sayAccepted() {
	if l.waiting != "" && l.s.terminal {
		fmt.Fprint(l.s.err, "\r\x1b[K")
	}
	l.waiting = ""
}

func (l *listener) post(ctx context.Context, e feedEvent) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.target, bytes.NewReader(e.Event))
	if err != nil {
		return 0, err
	}
	timestamp, signature := l.signer.Sign(e.ID, l.s.now(), e.Event)
	for _, prefix := range []string{"Webhook-", "Svix-"} {
		request.Header.Set(prefix+"Id", e.ID)
		request.Header.Set(prefix+"Timestamp", timestamp)
		request.Header.Set(prefix+"Signature", signature)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Hale-Webhooks/1.0")
	if e.Seq > 0 { // an example has no number
		request.Header.Set("X-Event-Seq", strconv.FormatInt(e.Seq, 10))
	}
	answer, err := l.http.Do(request)
	if err != nil {
		return 0, reason(err)
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	return answer.StatusCode, err
}

func (l *listener) print(line forwardedEvent) error {
	if l.s.format != formatTable {
		text, err := json.Marshal(line)
		if err != nil {
			return err
		}
		fmt.Fprintf(l.s.out, "%s\n", text)
		return nil
	}
	verdict, answer := verdictOK, strconv.Itoa(line.Status)
	if line.Status == 0 { // not posted
		verdict, answer = verdictWarning, line.Error
	}
	took := time.Duration(line.Millis) * time.Millisecond
	fmt.Fprintf(l.s.out, "%8d  %-45s %s  %s\n", line.Seq, line.Type, l.s.paint(verdict, answer), took)
	return nil
}

// printTotals prints the number of posted events and the event number for --after. With
// it the next run begins at the first event that the receiver has not accepted.
func (l *listener) printTotals() {
	if l.waiting != "" && l.s.terminal {
		l.s.say("")
	}
	l.s.say("%s forwarded; continue with --after %d", progress.Count(int64(l.sent)), l.next)
}

// reason returns the cause of a missing answer in a few words, without the address.
func reason(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return err
}
