package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
)

// exportOptions holds the options of `hale export`.
type exportOptions struct {
	all                                       bool
	out                                       string
	format, resource, provider, start, finish string
}

// exportExtensions has the extension of each format's files.
var exportExtensions = map[string]string{"csv": ".csv", "parquet": ".parquet", "fhir": ".ndjson"}

func (s *shell) exportCommand() *cobra.Command {
	var o exportOptions
	c := s.calls(&cobra.Command{
		Use: "export [USER…]", Short: "export all wearable data of users as files",
		Long: `Export all wearable data of users: samples, summaries and streams of workouts. Each
user has a file in the folder --out, named by the user_id.

csv and parquet are tables with a row for each sample, summary and stream. fhir has one
FHIR R4 Observation per line.`,
		Example: examples(
			"hale export anna",
			"hale export anna ben --format parquet --resource heartrate --start 2026-03-01",
			"hale export --all --format fhir --out cohort",
		),
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return s.export(c.Context(), o, args) },
	})
	flags := c.Flags()
	flags.BoolVar(&o.all, "all", false, "export all users of the team")
	flags.StringVar(&o.out, "out", ".", "folder of the files")
	flags.StringVar(&o.format, "format", "csv", "csv, parquet or fhir")
	flags.StringVar(&o.resource, "resource", "", "only this time series or summary")
	flags.StringVar(&o.provider, "provider", "", "only data of this provider")
	flags.StringVar(&o.start, "start", "", "first day (UTC) or instant")
	flags.StringVar(&o.finish, "end", "", "last day or instant, inclusive")
	return c
}

// exportedFile is the file of one user.
type exportedFile struct {
	User  string `json:"user_id"`
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

var exportView = view{id: "user_id", none: "no users", columns: []column{{"user", "user_id"}, {"file", "file"}, {"bytes", "bytes"}}}

func (s *shell) export(ctx context.Context, o exportOptions, names []string) error {
	if o.all == (len(names) > 0) {
		return badUsagef("needs users, or --all")
	}
	extension, ok := exportExtensions[o.format]
	if !ok {
		return badUsagef("--format must be csv, parquet or fhir")
	}
	users, err := s.usersToExport(ctx, names)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o700); err != nil {
		return err
	}
	files := []exportedFile{}
	for _, id := range users {
		one := exportedFile{User: id, File: filepath.Join(o.out, id+extension)}
		if one.Bytes, err = s.exportUser(ctx, o, id, one.File); err != nil {
			return err
		}
		files = append(files, one)
	}
	return s.showValue(exportView, files)
}

// usersToExport returns the ids of named users, or of all.
func (s *shell) usersToExport(ctx context.Context, names []string) (ids []string, err error) {
	for _, name := range names {
		_, id, err := s.findUser(ctx, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	const pageSize = 500
	for more := len(names) == 0; more; {
		body, err := s.call(ctx, http.MethodGet, "/v2/user", url.Values{"limit": {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(len(ids))}}, nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			Users []struct {
				ID string `json:"user_id"`
			} `json:"users"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, err
		}
		for _, user := range page.Users {
			ids = append(ids, user.ID)
		}
		more = len(page.Users) == pageSize
	}
	return ids, nil
}

// exportUser writes the file of a user. The file has its name only when it is complete.
func (s *shell) exportUser(ctx context.Context, o exportOptions, id, path string) (n int64, err error) {
	query := url.Values{"format": {o.format}}
	for name, v := range map[string]string{"resource": o.resource, "provider": o.provider, "start_date": o.start, "end_date": o.finish} {
		if v != "" {
			query.Set(name, v)
		}
	}
	server, err := s.client()
	if err != nil {
		return 0, err
	}
	answer, err := server.Send(ctx, client.Request{
		Method: http.MethodGet, Path: client.Path("v2", "user", id, "data", "export"), Query: query, Timeout: -1,
		Header: http.Header{"Accept": {"*/*"}},
	})
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return 0, err
		}
		return 0, client.Refusal(answer, body)
	}
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(file, answer.Body)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return n, withHint(err, "%s is not complete", part)
	}
	return n, os.Rename(part, path)
}
