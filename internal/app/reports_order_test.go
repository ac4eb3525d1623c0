package app_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/app/apptest"
	"hale/internal/labs/reports"
	"hale/internal/labs/reports/extract"
	"hale/internal/labs/reports/pages"
	"hale/internal/platform/store/storetest"
)

// pageReader reads PDF files in the process of the test.
type pageReader struct {
	apptest.Reports
	mu     sync.Mutex
	reader *pages.Reader
}

func (p *pageReader) Read(ctx context.Context, files []reports.File) (extract.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []pages.File
	for _, f := range files {
		all = append(all, pages.File(f))
	}
	return p.reader.Read(ctx, all)
}

// The laboratory's report of an order repeats the order's results: it links to them,
// and each result counts once.
func TestReportOfAnOrderCountsOnce(t *testing.T) {
	cache, err := os.UserCacheDir() // compiling takes seconds
	if err != nil {
		cache = t.TempDir()
	}
	reader := &pageReader{reader: pages.NewReader(pages.Config{CacheDir: filepath.Join(cache, "hale-test-wazero")})}
	t.Cleanup(func() {
		if err := reader.reader.Close(); err != nil {
			t.Error(err)
		}
	})
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		c := clinicOf(t, apptest.StartWith(t, d, func(o *app.Options) { o.ReportReader = reader }), nil, "patient-1")
		o := c.order("walk_in_test")
		c.advance(20)
		status, pdf := c.Call("GET", "/v3/order/"+o.ID+"/result/pdf", "")
		if status != 200 {
			t.Fatalf("the report of the order is %d %s", status, pdf)
		}
		var before, after struct {
			Results []struct {
				Origin struct {
					OrderID string `json:"order_id"`
				}
				Repeated []struct {
					JobID string `json:"job_id"`
				} `json:"repeated_in"`
			}
		}
		c.Get("/v2/user/"+c.user+"/lab_results", &before)

		var job struct {
			ID, Status string
			Reasons    []string `json:"review_reasons"`
			Repeats    *struct {
				Kind    string
				OrderID string `json:"order_id"`
			}
			Data *struct {
				Metadata map[string]any
				Results  []struct {
					Name    string `json:"test_name"`
					Repeats *struct{ Kind string }
				}
			}
		}
		body, kind := reportForm(t, c.user, "application/pdf", string(pdf))
		status, answer := c.Call("POST", parserJobs, body, "Content-Type", kind)
		if err := json.Unmarshal(answer, &job); err != nil || status != 200 {
			t.Fatalf("the upload is answered %d %s", status, answer)
		}
		for end := time.Now().Add(time.Minute); job.Status == "started" && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			c.Get(parserJobs+"/"+job.ID, &job)
		}
		if job.Status != "completed" || job.Repeats == nil || job.Repeats.Kind != "order" || job.Repeats.OrderID != o.ID {
			t.Fatalf("the job is %+v", job)
		}
		for _, r := range job.Data.Results {
			if r.Repeats == nil {
				t.Errorf("%s does not repeat the order's result", r.Name)
			}
		}
		if lab := job.Data.Metadata["lab_name"]; lab != "Larkspur Reference Laboratory (sandbox)" && lab != "Quillhaven Diagnostics (sandbox)" {
			t.Errorf("the laboratory is %q", lab)
		}
		c.Get("/v2/user/"+c.user+"/lab_results", &after)
		if len(before.Results) == 0 || len(after.Results) != len(before.Results) || len(job.Data.Results) != len(before.Results) {
			t.Errorf("the order has %d results, the report %d, both together %d", len(before.Results), len(job.Data.Results), len(after.Results))
		}
		for _, r := range after.Results {
			if r.Origin.OrderID != o.ID || len(r.Repeated) != 1 || r.Repeated[0].JobID != job.ID {
				t.Errorf("a result has the origin %+v and is repeated in %+v", r.Origin, r.Repeated)
			}
		}
	})
}
