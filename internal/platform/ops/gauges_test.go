package ops

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestGaugeBy(t *testing.T) {
	m := NewMetrics("v1", "sqlite")
	waiting := map[string]float64{"orders.place": 3, "users.erase": 0}
	m.GaugeBy("kind", "jobs_due", "Jobs that wait.", func() map[string]float64 { return waiting })
	for _, want := range []string{`jobs_due{kind="orders.place"} 3`, `jobs_due{kind="users.erase"} 0`} {
		if !strings.Contains(scrape(m), want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	var none *Metrics
	none.GaugeBy("kind", "jobs_due", "", nil)
	none.Node(nil, nil)
}

// A scrape asks for readiness as a probe does, whoever else asks or does not.
func TestNodeFigures(t *testing.T) {
	var broken error
	moment := time.Now()
	disk := NewDisk(t.TempDir())
	h := NewHealth(Discard(), func() time.Time { return moment },
		Check{"database", func(context.Context) error { return broken }}, disk.Check())
	m := NewMetrics("v1", "sqlite")
	m.Node(h, disk)
	says := func(want string) {
		t.Helper()
		if got := scrape(m); !strings.Contains(got, want+"\n") {
			t.Errorf("metrics lack %q", want)
		}
		moment = moment.Add(fresh)
	}
	says("hale_ready 1")
	broken = errors.New("locked")
	says("hale_ready 0")
	broken = nil
	says("hale_ready 1")
	h.Drain()
	says("hale_ready 0")
	got := scrape(m)
	for _, name := range []string{"data_disk_free_bytes", "data_disk_size_bytes"} {
		if !strings.Contains(got, "\n"+name+" ") || strings.Contains(got, "\n"+name+" 0\n") {
			t.Errorf("metrics lack %s", name)
		}
	}
}

// A disk that hangs takes nothing from the other figures.
func TestAScrapeDoesNotWaitForADiskThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		m := NewMetrics("v1", "sqlite")
		disk := NewDisk(t.TempDir())
		m.Node(NewHealth(Discard(), time.Now, Check{"disk", func(context.Context) error { <-hangs; return nil }}), disk)
		began := time.Now()
		got := scrape(m)
		if took := time.Since(began); took > checkTimeout+grace {
			t.Errorf("the scrape took %v", took)
		}
		if !strings.Contains(got, "hale_ready 0\n") || strings.Contains(got, "data_disk_size_bytes") {
			t.Error("a disk that nobody has seen has no size, and the node is not ready")
		}
		close(hangs)
	})
}
