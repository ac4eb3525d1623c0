package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
)

// question holds the options of `hale query`.
type question struct {
	data         string
	past, anchor string
	parquet      string
}

func (s *shell) queryCommand() *cobra.Command {
	var q question
	c := s.calls(&cobra.Command{
		Use: "query USER", Short: "query a user's wearable data: sums, means, groups",
		Long: `Query a user's wearable data. -d is one query (select, group_by, where, align) for
the time of --past and --anchor. It can also be a whole request of the API, with a
timeframe and several queries. hale docs aggregation describes queries.`,
		Example: examples(
			`hale query anna --past 7d -d '{"select":[{"func":"sum","arg":{"timeseries":"steps","field":"value"}}]}'`,
			"hale query anna -d @sleep.json -o json",
			"hale query anna -d @sleep.json --past 1y --parquet sleep.parquet",
		),
		Args: wantArgs("USER"),
		RunE: func(c *cobra.Command, args []string) error { return s.query(c, q, args[0]) },
	})
	flags := c.Flags()
	flags.StringVarP(&q.data, "data", "d", "", "query or request as JSON; @FILE reads a file, - reads standard input")
	flags.StringVar(&q.past, "past", "30d", "length of the time range: a number and h, d, w, mo or y")
	flags.StringVar(&q.anchor, "anchor", "", "last day of the time range, YYYY-MM-DD (default today)")
	flags.StringVar(&q.parquet, "parquet", "", "write the result to this Parquet file instead; for several queries, the files are numbered")
	return c
}

// archive is the media type of Parquet results. Reference 7.12.
const archive = "application/vnd.vital.tar+gzip+parquet"

func (s *shell) query(c *cobra.Command, q question, user string) error {
	if s.format == formatID {
		return badUsagef("results have no ids: use -o table, json or jsonl")
	}
	if q.data == "" {
		return badUsagef("-d is missing: the query, such as @query.json")
	}
	text, err := readData(q.data, s.in)
	if err != nil {
		return err
	}
	body, err := q.body(text, s.now())
	if err != nil {
		return err
	}
	_, id, err := s.findUser(c.Context(), user)
	if err != nil {
		return err
	}
	server, err := s.client()
	if err != nil {
		return err
	}
	request := client.Request{
		Method: http.MethodPost, Path: client.Path("aggregate", "v1", "user", id, "query"), Timeout: time.Minute,
		Raw: bytes.NewReader(body), Length: int64(len(body)), Header: http.Header{"Content-Type": {"application/json"}},
	}
	if q.parquet != "" {
		request.Header.Set("Accept", archive)
	}
	answer, err := server.Call(c.Context(), request)
	if err != nil {
		return err
	}
	if q.parquet != "" {
		return s.saveParquet(answer, q.parquet)
	}
	return s.showResults(answer)
}

// body returns the body of the request. If text has queries, it is the body. Otherwise
// text is one query, and body adds the period of the flags.
func (q question) body(text []byte, now time.Time) ([]byte, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, badUsagef("-d must be a JSON object; @FILE reads one from a file")
	}
	if given["queries"] != nil {
		return text, nil
	}
	if given["select"] == nil {
		return nil, badUsagef("-d needs select or queries")
	}
	value, unit, err := q.period()
	if err != nil {
		return nil, err
	}
	anchor := q.anchor
	if anchor == "" {
		anchor = now.Format(time.DateOnly)
	}
	return json.Marshal(map[string]any{
		"timeframe": map[string]any{"type": "relative", "anchor": anchor, "past": map[string]any{"unit": unit, "value": value}},
		"queries":   []json.RawMessage{text},
	})
}

var (
	periods = regexp.MustCompile(`^([1-9][0-9]{0,4})(h|d|w|mo|y)$`)
	units   = map[string]string{"h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year"}
)

func (q question) period() (value int, unit string, err error) {
	m := periods.FindStringSubmatch(q.past)
	if m == nil {
		return 0, "", badUsagef("--past must be a number and h, d, w, mo or y, such as 7d")
	}
	value, err = strconv.Atoi(m[1])
	return value, units[m[2]], err
}

// saveParquet writes the files of an answer. A single file goes to path. Several files
// get numbers before the extension of path.
func (s *shell) saveParquet(answer []byte, path string) error {
	zipped, err := gzip.NewReader(bytes.NewReader(answer))
	if err != nil {
		return fmt.Errorf("the answer is not an archive: %w", err)
	}
	var files [][]byte
	for packed := tar.NewReader(zipped); ; {
		if _, err := packed.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("the answer is damaged: %w", err)
		}
		content, err := io.ReadAll(packed)
		if err != nil {
			return fmt.Errorf("the answer is damaged: %w", err)
		}
		files = append(files, content)
	}
	for i, content := range files {
		name := path
		if len(files) > 1 {
			stem := strings.TrimSuffix(path, ".parquet")
			name = fmt.Sprintf("%s-%d%s", stem, i, path[len(stem):])
		}
		if err := writeDurably(name, content); err != nil {
			return err
		}
		s.sayDone("wrote %s, %d bytes", name, len(content))
	}
	return nil
}
