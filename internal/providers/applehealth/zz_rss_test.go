package applehealth

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hale/internal/providers/applehealth/applehealthtest"
	"hale/internal/store/storetest"
	"hale/internal/wearables"
)

func hwm() string {
	b, _ := os.ReadFile("/proc/self/status")
	for _, l := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(l, "VmHWM") || strings.HasPrefix(l, "RssAnon") {
			return l + " | " + string(b[strings.Index(string(b), "RssAnon"):strings.Index(string(b), "RssShmem")])
		}
	}
	return ""
}

func TestZZRSS(t *testing.T) {
	name := filepath.Join("/tmp", "hale-big.zip")
	if _, err := os.Stat(name); err != nil {
		f, _ := os.Create(name)
		w := bufio.NewWriterSize(f, 1<<20)
		s, err := applehealthtest.WriteZip(w, applehealthtest.Options{Bytes: 1500 << 20})
		if err != nil || w.Flush() != nil || f.Close() != nil {
			t.Fatal(err)
		}
		t.Log(s.Records, s.Bytes)
		return
	}
	db := storetest.SQLite(t)
	if os.Getenv("PGRSS") != "" { db = storetest.Postgres(t) }
	sink, user := someone(t, db)
	began := time.Now()
	o := run(t, &Import{DB: db, Sink: sink, User: user, Stage: wearables.Historical, Push: os.Getenv("PUSH") != ""}, name)
	d := time.Since(began).Seconds()
	t.Logf("%d records %.1f MB in %.2fs: %.0f MB/s %.0f rec/s; %s; rejected %v", o.Records, float64(o.Bytes)/1e6, d, float64(o.Bytes)/1e6/d, float64(o.Records)/d, hwm(), o.Rejections)
}
