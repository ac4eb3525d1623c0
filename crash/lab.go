package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"hale/internal/harness/loopback"
	"hale/internal/harness/proc"
	"hale/internal/labs/networks/networktest"
)

// lab is the laboratory of the run. It runs in this process, so no kill reaches it.
// It receives real orders over MLLP and counts them by their placer number. A production
// team of its own orders there.
type lab struct {
	networktest.WireLab
	address string
	listens []string // where each node receives results
	call    *caller  // the production team's
	feed    *feed
	user    string

	mu       sync.Mutex
	ordered  map[string]string // idempotency key → acknowledged order id
	lost     map[string]bool   // idempotency keys of orders whose answer was lost
	reported map[string]bool   // placers whose results are being sent
	taken    map[string]bool   // placers whose results a node acknowledged
	damaged  int               // acknowledged reports with a damaged identity
}

// compendium lists the tests of the lab.
const compendium = `{
	"lab": {"slug":"crash_lab","name":"Crash Laboratory","address":"1 Example Way","city":"Nowhere","zip":"85004",
		"methods":["walk_in_test"],"sample_types":["serum"],"states":["AZ"],"billings":["client_bill"]},
	"markers": [{"provider_id":"W1","name":"Glucose","expected_results":[{"provider_id":"W1-1","loinc":"2345-7"}]}]
}`

func openLab() (*lab, error) {
	l := &lab{
		ordered: map[string]string{}, lost: map[string]bool{}, reported: map[string]bool{}, taken: map[string]bool{}, feed: newFeed(),
	}
	l.Codes = map[string][]networktest.WireResult{
		"W1": {{Code: "W1-1", Name: "Glucose", LOINC: "2345-7", Value: "91", Unit: "mg/dL", Range: "70-99"}},
	}
	var err error
	l.address, err = l.Open()
	return l, err
}

// join gives a node its side of the connection: a file of networks, with a
// port of its own for results.
func (l *lab) join(o *proc.Options, dir string) error {
	listen, err := loopback.FreeAddress()
	if err != nil {
		return err
	}
	l.listens = append(l.listens, listen)
	file := filepath.Join(dir, fmt.Sprintf("networks-%d.yaml", len(l.listens)))
	text := fmt.Sprintf("networks:\n  hl7v2:\n    listen: %s\n    labs:\n      crash_lab:\n        address: %s\n        application: %s\n        lab_application: %s\n        lab_facility: %s\n",
		listen, l.address, networktest.WireCustomer, networktest.WireApplication, networktest.WireFacility)
	o.Args = append(o.Args, "--networks", file)
	return os.WriteFile(file, []byte(text), 0o600)
}

// administer does the work of an operator. It imports the lab's compendium and creates
// a production team with a key and an account.
func (l *lab) administer(ctx context.Context, t *trial, dir string) error {
	file := filepath.Join(dir, "compendium.json")
	if err := os.WriteFile(file, []byte(compendium), 0o600); err != nil {
		return err
	}
	run := func(args ...string) (string, error) {
		c := exec.CommandContext(ctx, t.options.Binary, args...)
		c.Env = append(os.Environ(), "HALE_DATA="+t.options.Dir)
		if t.options.Database != "" {
			c.Env = append(c.Env, "HALE_DATABASE="+t.options.Database)
		}
		var out, talk bytes.Buffer
		c.Stdout, c.Stderr = &out, &talk
		if err := c.Run(); err != nil {
			return "", fmt.Errorf("hale %s: %w: %s", strings.Join(args[:2], " "), err, talk.String())
		}
		return strings.TrimSpace(out.String()), nil
	}
	if _, err := run("catalog", "import", file); err != nil {
		return err
	}
	if _, err := run("catalog", "accounts", "add", "--platform", "--lab", "crash_lab", "--number", "77", "--billing", "all"); err != nil {
		return err
	}
	team, err := run("teams", "create", "Clinic", "--environment", "production", "-o", "id")
	if err != nil {
		return err
	}
	if _, err := run("teams", "settings", team, "result_reviews_enabled=on"); err != nil {
		return err
	}
	text, err := run("keys", "create", "--team", team, "-o", "json")
	if err != nil {
		return err
	}
	var made struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal([]byte(text), &made); err != nil || made.Key == "" {
		return fmt.Errorf("the production team's key does not read: %w", err)
	}
	l.call = newCaller(t.call.nodes, t.oracle)
	l.call.key = made.Key
	var user struct {
		UserID string `json:"user_id"`
	}
	err = l.call.ask(ctx, http.MethodPost, "/v2/user", map[string]any{"client_user_id": "crash-patient"}, &user)
	l.user = user.UserID
	return err
}

// orderTests orders one test after another, at a pace that leaves the server room for
// its other callers. It repeats an order without an answer under the same key. If a
// kill fell between the change and its answer, the server answers 409; recall checks
// those at the end.
func (l *lab) orderTests(ctx context.Context, t *trial, writer int) error {
	for n := 0; ; n++ {
		if err := t.goOn(); err != nil {
			return err
		}
		key := fmt.Sprintf("order-%d-%d", writer, n)
		id, err := l.order(ctx, key)
		_, claimed := isStatus(err, http.StatusConflict)
		switch {
		case claimed:
			l.mu.Lock()
			l.lost[key] = true
			l.mu.Unlock()
		case err == nil:
			err = l.keep(t, key, id)
		}
		if err != nil && !claimed {
			return err
		}
		select {
		case <-time.After(30 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// keep notes an acknowledged order.
func (l *lab) keep(t *trial, key, id string) error {
	return t.oracle.acknowledged("order", map[string]any{"order": id, "key": key}, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ordered[key] = id
	})
}

var (
	patientAddress = map[string]any{
		"receiver_name": "Ada Byron", "first_line": "1 Main Street", "city": "Phoenix", "state": "AZ", "zip": "85004", "country": "US", "phone_number": "+14155550132",
	}
	patientDetails = map[string]any{
		"first_name": "Ada", "last_name": "Byron", "dob": "1984-12-10", "gender": "female", "phone_number": "+14155550132", "email": "ada@example.org",
	}
)

// order creates one order. It repeats the request until there is an answer.
func (l *lab) order(ctx context.Context, key string) (string, error) {
	body := map[string]any{
		"user_id": l.user, "order_set": map[string]any{"add_on": map[string]any{"provider_ids": []string{"W1"}}}, "collection_method": "walk_in_test",
		"passthrough": key, "patient_address": patientAddress, "patient_details": patientDetails,
	}
	var made struct {
		Order struct {
			ID string `json:"id"`
		} `json:"order"`
	}
	err := l.call.askOnce(ctx, key, http.MethodPost, "/v3/order", body, &made)
	if err == nil && made.Order.ID == "" {
		err = errors.New("an order without an id")
	}
	return made.Order.ID, err
}

// sendResults reports the results of the received orders. Like a lab, it repeats each
// message until a node acknowledges it. It runs until all are reported and ctx ends.
func (l *lab) sendResults(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for ctx.Err() == nil {
		for placer := range l.Orders() {
			l.mu.Lock()
			done := l.reported[placer]
			l.reported[placer] = true
			l.mu.Unlock()
			if done {
				continue
			}
			way := len(l.reported)
			group.Go(func() error {
				if way%2 == 0 { // of three messages, one
					if err := l.reportDamaged(ctx, placer, way/2); err != nil {
						return err
					}
				}
				err := l.Report(ctx, placer, "F", l.listens...)
				if ctx.Err() != nil {
					return nil
				}
				l.mu.Lock()
				defer l.mu.Unlock()
				l.taken[placer] = err == nil
				return err
			})
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return group.Wait()
}

// damagedValue is the value of every report with a damaged identity.
const damagedValue = "999"

// reportDamaged reports results of another person, or of one that is not
// certain, under the number of an order.
func (l *lab) reportDamaged(ctx context.Context, placer string, way int) error {
	err := l.ReportDamaged(ctx, placer, way, damagedValue, l.listens...)
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.damaged++
	}
	return err
}
