package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"
)

// This file holds every path and shape of the API that the run uses. A change of
// the API needs a change in this file only.

func pushPath(user string) string { return "/v2/timeseries/" + user + "/heartrate" }

func pushBody(at int64, value float64) map[string]any {
	return map[string]any{
		"stage": "daily", "provider": "apple_health_kit",
		"data": []map[string]any{{
			"timestamp": time.Unix(at, 0).UTC().Format(time.RFC3339), "value": value, "unit": "bpm", "source_type": "watch",
		}},
	}
}

// pushedSample is an answer to a push: each sample is one of the three.
type pushedSample struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"` // an attempt whose answer was lost had stored it
}

// feedPage is an answer of GET /v2/events.
type feedPage struct {
	Events  []feedEvent `json:"events"`
	HasMore bool        `json:"has_more"`
}

type feedEvent struct {
	ID   string          `json:"id"`
	Seq  int64           `json:"seq"`
	Type string          `json:"event_type"`
	Body json.RawMessage `json:"event"` // the bytes of webhooks
}

// addEndpoint registers the receiver and returns its secret.
func (t *trial) addEndpoint(ctx context.Context) (secret string, err error) {
	var endpoint struct {
		ID string `json:"id"`
	}
	var known struct {
		Types []struct {
			Name string `json:"event_type"`
		} `json:"event_types"`
	}
	if err := t.call.ask(ctx, http.MethodGet, "/v2/webhooks/event_types", nil, &known); err != nil {
		return "", err
	}
	var all []string // optional types too
	for _, one := range known.Types {
		all = append(all, one.Name)
	}
	if err := t.call.ask(ctx, http.MethodPost, "/v2/webhooks", map[string]any{"url": t.sink.URL(), "filter_types": all}, &endpoint); err != nil {
		return "", err
	}
	t.endpoint = endpoint.ID
	var key struct {
		Key string `json:"key"`
	}
	err = t.call.ask(ctx, http.MethodGet, "/v2/webhooks/"+endpoint.ID+"/secret", nil, &key)
	return key.Key, err
}

// delivery describes the server's delivery of an event to this receiver.
func (t *trial) delivery(ctx context.Context, event string) (json.RawMessage, error) {
	var about json.RawMessage
	err := t.call.ask(ctx, http.MethodGet, "/v2/webhooks/"+t.endpoint+"/deliveries/"+event, nil, &about)
	return about, err
}

// startImport uploads the export and returns the import's id.
func (t *trial) startImport(ctx context.Context, user string) (string, error) {
	var made struct {
		ID string `json:"id"`
	}
	if err := t.call.ask(ctx, http.MethodPost, "/v2/user/"+user+"/imports?kind=apple_health", t.export, &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", errors.New("an import without an id")
	}
	return made.ID, nil
}

// startInParts uploads the export in parts of any size, each to any node. A part
// that was acknowledged must stay stored.
func (t *trial) startInParts(ctx context.Context, user string) (string, error) {
	var up struct {
		ID     string `json:"id"`
		Offset int    `json:"offset"`
		Import *struct {
			ID string `json:"id"`
		} `json:"import"`
	}
	sum, path := sha256.Sum256(t.export), "/v2/user/"+user+"/uploads"
	begin := map[string]any{"size": len(t.export), "sha256": hex.EncodeToString(sum[:])}
	if err := t.call.ask(ctx, http.MethodPost, path, begin, &up); err != nil {
		return "", err
	}
	for path += "/" + up.ID; up.Import == nil; {
		had := up.Offset
		end := min(len(t.export), had+1+rand.IntN(len(t.export)/2))
		err := t.call.ask(ctx, http.MethodPatch, path, part{had, t.export[had:end]}, &up)
		if _, conflict := isStatus(err, http.StatusConflict); conflict { // an attempt without an answer stored it, or is creating the import
			err = t.call.ask(ctx, http.MethodGet, path, nil, &up)
		}
		if err != nil {
			return "", err
		}
		if up.Offset < had {
			return "", fmt.Errorf("%d bytes of an upload were acknowledged, and %d are there", had, up.Offset)
		}
	}
	return up.Import.ID, nil
}

// unfinishedImports counts the acknowledged imports that have not ended.
func (t *trial) unfinishedImports(ctx context.Context) (n int, err error) {
	for id, user := range t.oracle.imports {
		if t.finished[id] {
			continue
		}
		var state struct {
			Status string `json:"status"`
		}
		if err := t.call.ask(ctx, http.MethodGet, "/v2/user/"+user+"/imports/"+id, nil, &state); err != nil {
			return 0, err
		}
		switch state.Status {
		case "succeeded":
			t.finished[id] = true
		case "failed":
			return 0, fmt.Errorf("import %s failed", id)
		default:
			n++
		}
	}
	return n, nil
}

// undisturbed imports the export before the first kill, and returns the heart rates
// that it stores.
func (t *trial) undisturbed(ctx context.Context) (map[int64]float64, error) {
	user, err := t.createUser(ctx, "crash-undisturbed")
	if err != nil {
		return nil, err
	}
	id, err := t.startImport(ctx, user)
	if err != nil {
		return nil, err
	}
	if err := t.oracle.imported(id, user); err != nil {
		return nil, err
	}
	for {
		waiting, err := t.unfinishedImports(ctx)
		if err != nil {
			return nil, err
		}
		if waiting == 0 {
			return t.heartRates(ctx, user)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// checkUser reads a user back.
func (t *trial) checkUser(ctx context.Context, id, clientID string) error {
	var user struct {
		ClientUserID string `json:"client_user_id"`
	}
	if err := t.call.ask(ctx, http.MethodGet, "/v2/user/"+id, nil, &user); err != nil {
		return fmt.Errorf("user %s: %w", id, err)
	}
	if user.ClientUserID != clientID {
		return fmt.Errorf("user %s is called %q, not %q", id, user.ClientUserID, clientID)
	}
	return nil
}

// heartRates reads all of a user's heart rates, by unix second.
func (t *trial) heartRates(ctx context.Context, user string) (map[int64]float64, error) {
	all := map[int64]float64{}
	query := url.Values{"start_date": {"2000-01-01"}, "end_date": {"2030-01-01"}}
	for {
		var page struct {
			Groups map[string][]struct {
				Data []struct {
					Timestamp time.Time `json:"timestamp"`
					Value     float64   `json:"value"`
				} `json:"data"`
			} `json:"groups"`
			NextCursor *string `json:"next_cursor"`
		}
		path := "/v2/timeseries/" + user + "/heartrate/grouped?" + query.Encode()
		if err := t.call.ask(ctx, http.MethodGet, path, nil, &page); err != nil {
			return nil, err
		}
		for _, groups := range page.Groups {
			for _, group := range groups {
				for _, s := range group.Data {
					all[s.Timestamp.Unix()] = s.Value
				}
			}
		}
		if page.NextCursor == nil || *page.NextCursor == "" {
			return all, nil
		}
		query.Set("next_cursor", *page.NextCursor)
	}
}

// open looks at a portal link, as a mail scanner would, and returns the status.
func (t *trial) open(ctx context.Context, link string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := t.call.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
