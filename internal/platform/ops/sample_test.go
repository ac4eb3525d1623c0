package ops

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// A repeated error is written some times a minute. After the minute a line has the number
// of those that were left out, also if no other line comes.
func TestRepeatedErrorsAreSampled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer // the sampler writes from a timer
		log := slog.New(sample(slog.NewTextHandler(&out, nil)))
		count := func(text string) int { return strings.Count(out.String(), text) }
		for i := range 500 {
			log.Error("a push failed", "error", errors.New("no connection"), "request_id", i)
			log.With("lab", fmt.Sprint(i)).Warn("a laboratory is away")
			log.Info("request")
		}
		if n := count("a push failed"); n != samplesPerWindow {
			t.Errorf("%d equal errors", n)
		}
		if n := count("a laboratory is away"); n != 500 {
			t.Errorf("%d different warnings", n)
		}
		if n := count("msg=request"); n != 500 {
			t.Errorf("%d lines of level info", n)
		}
		log.Error("a push failed", "error", errors.New("disk full"))
		if count("disk full") != 1 {
			t.Error("an error with another cause is left out")
		}
		time.Sleep(sampleWindow + time.Second)
		synctest.Wait()
		if count("left_out=480") != 1 || count("left_out") != 1 || count("request_id=499") != 1 {
			t.Errorf("the lines that were left out are not counted: %s", out.String()[max(0, len(out.String())-600):])
		}
		log.Error("a push failed", "error", errors.New("no connection"), "request_id", "new")
		if count("request_id=new") != 1 {
			t.Error("the next minute begins with left out lines")
		}
		time.Sleep(sampleWindow + time.Second)
	})
}

// Very many different errors are all written, in bounded memory.
func TestManyDifferentErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		handler := sample(slog.NewTextHandler(&out, nil))
		log := slog.New(handler)
		counts := func() int {
			c := handler.(*sampler).counts
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.all)
		}
		for i := range 3 * maxSampled {
			log.Error("failed", "error", fmt.Sprint("cause ", i))
		}
		if n := strings.Count(out.String(), "msg=failed"); n != 3*maxSampled {
			t.Errorf("%d lines", n)
		}
		if n := counts(); n > maxSampled {
			t.Errorf("%d counts", n)
		}
		time.Sleep(sampleWindow + time.Second)
		synctest.Wait()
		if n := counts(); n != 0 {
			t.Errorf("%d counts stay", n)
		}
	})
}
