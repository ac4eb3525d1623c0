package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// bar draws a progress bar on a terminal. The library draws, and this package computes
// the numbers, so that a bar and a line show the same ones.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar
	quit      chan struct{}
	fed       chan struct{}
}

// refresh is the interval at which a bar is drawn: short enough to look alive.
const refresh = 120 * time.Millisecond

func startBar(out io.Writer, now func() state) display {
	b := &bar{quit: make(chan struct{}), fed: make(chan struct{})}
	b.container = mpb.New(mpb.WithOutput(out), mpb.WithRefreshRate(refresh), mpb.WithAutoRefresh())
	text := func(part func(state) string) decor.Decorator {
		return decor.Any(func(decor.Statistics) string { return part(now()) })
	}
	style := mpb.BarStyle().Lbound("").Rbound("").Filler("━").Tip("━").Padding("─")
	b.bar = b.container.New(0, style, mpb.BarWidth(24),
		mpb.PrependDecorators(text(func(s state) string { return s.label + " " })),
		mpb.AppendDecorators(text(func(s state) string { return " " + s.behindBar(time.Now()) })))
	go b.feed(now)
	return b
}

// feed moves the bar while the work runs.
func (b *bar) feed(now func() state) {
	defer close(b.fed)
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		b.move(now())
		select {
		case <-ticker.C:
		case <-b.quit:
			return
		}
	}
}

// move sets the bar, at most one short of full. The library considers a full bar
// finished, and only stop knows whether it is.
func (b *bar) move(s state) {
	b.bar.SetTotal(max(s.total, 1)+1, false)
	b.bar.SetCurrent(min(s.done, max(s.total, 1)))
}

func (b *bar) stop(last state) {
	close(b.quit)
	<-b.fed
	if last.ok {
		b.bar.SetTotal(max(last.done, 1), false)
		b.bar.SetCurrent(max(last.done, 1))
		b.bar.SetTotal(max(last.done, 1), true)
	} else {
		b.bar.Abort(false)
	}
	b.container.Wait()
}

// behindBar returns the text to the right of the bar.
func (s state) behindBar(now time.Time) string {
	text := s.amount(s.done)
	if s.total > 0 {
		text += " of " + s.amount(s.total)
	}
	text += ", " + s.rateAndRest(now)
	if s.note != "" {
		text += ", " + s.note
	}
	return text
}

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
