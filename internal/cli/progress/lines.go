package progress

import (
	"fmt"
	"io"
	"time"
)

// lines prints a line now and then, and one at the end.
type lines struct {
	out  io.Writer
	quit chan struct{}
	done chan struct{}
}

func startLines(out io.Writer, every time.Duration, now func() state) display {
	l := &lines{out: out, quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case t := <-ticker.C:
				fmt.Fprintln(l.out, now().line(t))
			case <-l.quit:
				return
			}
		}
	}()
	return l
}

func (l *lines) stop(last state) {
	close(l.quit)
	<-l.done
	fmt.Fprintln(l.out, last.line(last.ended))
}
