package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
)

// Paths and shapes of the API that more than one measure uses.

func pushPath(user string) string { return "/v2/timeseries/" + user + "/heartrate" }

// addEndpoint creates a webhook endpoint at url that receives all events.
func (b *bench) addEndpoint(ctx context.Context, url string) error {
	return b.call(ctx, http.MethodPost, "/v2/webhooks", map[string]any{"url": url}, nil)
}

// upload sends an export and returns the id of its import.
func (b *bench) upload(ctx context.Context, user, path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return b.uploadFile(ctx, user, "apple_health", "application/zip", file)
}

// uploadFile sends a file of a kind and returns the id of its import.
func (b *bench) uploadFile(ctx context.Context, user, kind, media string, file io.Reader) (string, error) {
	text, err := b.post(ctx, "/v2/user/"+user+"/imports?kind="+kind, media, file)
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"id"`
	}
	err = json.Unmarshal(text, &made)
	return made.ID, err
}

func (b *bench) importStatus(ctx context.Context, user, id string) (string, error) {
	var state struct {
		Status string `json:"status"`
	}
	err := b.call(ctx, http.MethodGet, "/v2/user/"+user+"/imports/"+id, nil, &state)
	return state.Status, err
}
