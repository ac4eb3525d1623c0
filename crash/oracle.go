package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
)

// oracle records acknowledged writes in memory, and in a file for later inspection. It is
// written only after the answer.
type oracle struct {
	mu      sync.Mutex
	file    *os.File
	users   map[string]string           // user_id → client_user_id
	samples map[string]map[int64]sample // user_id → unix seconds → pushed sample
	links   []string                    // portal addresses
	imports map[string]string           // import id → user_id
	acks    int
	retries int // requests whose answer was lost
}

// sample is a measurement as it was last acknowledged.
type sample struct {
	value   float64
	changes int // how often it got another value; each is an event of its own
}

func newOracle(path string) (*oracle, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("oracle: %w", err)
	}
	return &oracle{
		file: file, users: map[string]string{}, samples: map[string]map[int64]sample{}, imports: map[string]string{},
	}, nil
}

// acknowledged notes one acknowledged write.
func (o *oracle) acknowledged(kind string, facts map[string]any, note func()) error {
	facts["ack"] = kind
	line, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	note()
	o.acks++
	_, err = o.file.Write(append(line, '\n'))
	return err
}

func (o *oracle) user(id, clientID string) error {
	return o.acknowledged("user", map[string]any{"user_id": id, "client_user_id": clientID}, func() { o.users[id] = clientID })
}

func (o *oracle) sample(user string, at int64, value float64) error {
	return o.acknowledged("sample", map[string]any{"user_id": user, "time": at, "value": value}, func() {
		if o.samples[user] == nil {
			o.samples[user] = map[int64]sample{}
		}
		old, again := o.samples[user][at]
		if again {
			old.changes++
		}
		o.samples[user][at] = sample{value, old.changes}
	})
}

// valueOf returns the value that the server last acknowledged for a user's moment. It
// returns false if there is none.
func (o *oracle) valueOf(user string, at int64) (float64, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, ok := o.samples[user][at]
	return s.value, ok
}

func (o *oracle) link(url string) error {
	return o.acknowledged("link", map[string]any{"url": url}, func() { o.links = append(o.links, url) })
}

func (o *oracle) imported(id, user string) error {
	return o.acknowledged("import", map[string]any{"import": id, "user_id": user}, func() { o.imports[id] = user })
}

func (o *oracle) retried() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.retries++
}

// snapshot copies the recorded state, so that it can be checked while writers continue.
func (o *oracle) snapshot() *oracle {
	o.mu.Lock()
	defer o.mu.Unlock()
	copied := &oracle{
		users: maps.Clone(o.users), links: slices.Clone(o.links), imports: maps.Clone(o.imports),
		samples: make(map[string]map[int64]sample, len(o.samples)), acks: o.acks, retries: o.retries,
	}
	for user, all := range o.samples {
		copied.samples[user] = maps.Clone(all)
	}
	return copied
}
