package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
)

// serverFlags name the server that a command calls and its key.
type serverFlags struct {
	url, key, header string
}

const defaultURL = "http://127.0.0.1:8080"

// calls gives a command, and those below it, the flags for calling a server.
func (s *shell) calls(c *cobra.Command) *cobra.Command {
	flags := c.PersistentFlags()
	flags.StringVar(&s.server.url, "server", "", "base URL of the server (env HALE_URL) (default "+defaultURL+")")
	flags.StringVar(&s.server.key, "api-key", "", "API key; prefer the environment, which other users of this machine cannot see (env HALE_API_KEY)")
	flags.StringVar(&s.server.header, "api-key-header", "", "request header for the key (default Authorization)")
	return c
}

func (s *shell) serverURL() string {
	if s.server.url != "" {
		return s.server.url
	}
	if address, _ := s.lookupEnv("HALE_URL"); address != "" {
		return address
	}
	return defaultURL
}

func (s *shell) apiKey() string {
	if s.server.key != "" {
		return s.server.key
	}
	key, _ := s.lookupEnv("HALE_API_KEY")
	return key
}

// client returns a client for the server that the flags or the environment name.
func (s *shell) client() (*client.Client, error) {
	return client.New(client.Options{URL: s.serverURL(), Key: s.apiKey(), Header: s.server.header, Agent: "hale/" + version()})
}

// call sends one request to the server and returns the body of its answer.
func (s *shell) call(ctx context.Context, method, path string, query url.Values, body any) (json.RawMessage, error) {
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	return c.Call(ctx, client.Request{Method: method, Path: path, Query: query, Body: body})
}

// get calls a path and decodes its answer.
func (s *shell) get(ctx context.Context, path string, query url.Values, v any) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	return c.Get(ctx, path, query, v)
}

// showGet calls a path and shows its answer.
func (s *shell) showGet(ctx context.Context, v view, path string, query url.Values) error {
	body, err := s.call(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return err
	}
	return s.show(v, body)
}
