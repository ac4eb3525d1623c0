package reader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"syscall"
	"time"

	"hale/internal/labs/reports/extract"
	"hale/internal/labs/reports/pages"
)

// Engine reads files in the child.
type Engine interface {
	Read(ctx context.Context, files []pages.File) (extract.Result, error)
	Image(ctx context.Context, files []pages.File, page int) ([]byte, error)
}

// maxReports is the number of reports that one child reads. A new process forgets what a
// file has left in memory.
const maxReports = 50

// Serve answers requests until in ends. It is the child's main function. start makes the
// engine when the limits are set; nil means package pages.
func Serve(ctx context.Context, in io.Reader, out io.Writer, start func(pages.Config) Engine) error {
	if start == nil {
		start = func(c pages.Config) Engine { return pages.NewReader(c) }
	}
	from := bufio.NewReader(in)
	var engine Engine
	for served := 1; ; served++ {
		var asked request
		err := readMessage(from, &asked)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if engine == nil {
			if err := limitSelf(asked.Config); err != nil { // no file is read without limits
				return errors.Join(err, writeMessage(out, answer{Setup: err.Error(), Last: true}))
			}
			engine = start(asked.Config.Pages)
		}
		files := make([]pages.File, len(asked.Files))
		for i, head := range asked.Files {
			files[i].Type = head.Type
			if files[i].Data, err = readData(from, head.Size); err != nil {
				return err
			}
		}
		a, image := perform(ctx, engine, files, asked.Page)
		half := time.Duration(asked.Config.Seconds) * time.Second / 2
		// A file that failed may have left its parser in any state.
		failed := a.Failure != nil || a.Error != ""
		a.Last = failed || served >= maxReports || half > 0 && usedTime() > half
		a.Size = int64(len(image))
		if err := writeMessage(out, a, image); err != nil || a.Last {
			return err
		}
	}
}

// perform answers one request. A panic of a parser is an answer too: it says that the
// file cannot be read.
func perform(ctx context.Context, engine Engine, files []pages.File, page int) (a answer, image []byte) {
	defer func() {
		if v := recover(); v != nil {
			a, image = answer{Error: "panic while reading a file"}, nil
		}
	}()
	var err error
	if page > 0 {
		image, err = engine.Image(ctx, files, page)
	} else {
		a.Result, err = engine.Read(ctx, files)
	}
	switch {
	case err == nil:
		return a, image
	case errors.As(err, &a.Failure):
	case errors.Is(err, pages.ErrNoTesseract):
		a.Failure = &extract.Failure{Reason: extract.ProcessingError, Detail: err.Error()}
	default:
		a.Error = fmt.Sprintf("%.500v", err)
	}
	return answer{Failure: a.Failure, Error: a.Error}, nil
}

// maxFile bounds the files that the child and its programs write, maxOpenFiles their
// number.
const (
	maxFile      = 512 << 20
	maxOpenFiles = 256
)

// limitSelf sets the limits of this process and of the programs that it starts. The
// kernel refuses memory beyond the limit, which ends the process.
func limitSelf(c Config) error {
	limits := map[int]uint64{syscall.RLIMIT_CORE: 0, syscall.RLIMIT_FSIZE: maxFile, syscall.RLIMIT_NOFILE: maxOpenFiles}
	if c.Memory > 0 {
		limits[syscall.RLIMIT_DATA] = uint64(c.Memory)
		debug.SetMemoryLimit(c.Memory / 4 * 3)
	}
	if c.Seconds > 0 {
		limits[syscall.RLIMIT_CPU] = c.Seconds
	}
	for resource, most := range limits {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("reader: reading limit %d: %w", resource, err)
		}
		now.Max = min(now.Max, most)
		now.Cur = min(now.Cur, now.Max)
		if err := syscall.Setrlimit(resource, &now); err != nil {
			return fmt.Errorf("reader: setting limit %d: %w", resource, err)
		}
	}
	return nil
}

// usedTime returns the processor time of this process.
func usedTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
