package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"hale/internal/labs/reports"
	"hale/internal/labs/reports/pages"
	"hale/internal/labs/reports/reader"
)

// ReaderCommand is the hidden command of this program that reads uploaded reports in a
// child process.
const ReaderCommand = "read-reports"

// readerIdle is the time after which an unused child ends. It frees some hundred
// megabytes.
const readerIdle = time.Minute

// readerSeconds is the processor time of one child, for all reports that it reads.
const readerSeconds = 1800

// reports makes the service of uploaded lab reports, and its metrics.
func (a *App) reports() (*reports.Service, error) {
	cfg := a.Config
	s := &reports.Service{
		DB: a.DB, Log: a.Log, Reader: a.ReportReader, Workers: cfg.ReportWorkers,
		Limits: reports.DefaultLimits(),
	}
	s.Limits.MaxBytes, s.Limits.MaxPages, s.Limits.MaxPixels = int64(cfg.ReportLimit), cfg.ReportPages, cfg.ReportPixels
	if s.Workers == 0 {
		s.Workers = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if s.Reader == nil {
		pool, err := a.readerPool(s.Workers)
		if err != nil {
			return nil, err
		}
		s.Reader = pool
	}
	a.watchReports(s)
	return s, nil
}

// readerPool returns the pool of child processes.
func (a *App) readerPool(size int) (*reader.Pool, error) {
	cfg := a.Config
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("app: finding this program: %w", err)
	}
	data, err := filepath.Abs(cfg.Data)
	if err != nil {
		return nil, fmt.Errorf("app: the data folder: %w", err)
	}
	cache := filepath.Join(data, "reader-cache")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("app: creating the cache of the report reader: %w", err)
	}
	pool := &reader.Pool{
		Command: []string{program, ReaderCommand}, Dir: filepath.Join(data, "readers"), Size: size, Idle: readerIdle,
		Timeout: cfg.ReportTimeout, ImageTimeout: time.Minute,
		Config: reader.Config{
			Memory: int64(cfg.ReportMemory), Seconds: readerSeconds,
			Pages: pages.Config{MaxPages: cfg.ReportPages, MaxPixels: cfg.ReportPixels, CacheDir: cache, Tesseract: cfg.Tesseract},
		},
	}
	if err := pool.Sweep(); err != nil {
		return nil, err
	}
	a.workers.add("report readers", func(ctx context.Context) error {
		<-ctx.Done()
		pool.Close()
		return nil
	})
	a.Metrics.Gauge("report_reader_processes", "Child processes that read lab reports, or are ready to.", func() float64 { return float64(pool.Processes()) })
	return pool, nil
}

// backlogAge is the age at which the figures of waiting reports are read again.
const backlogAge = 5 * time.Second

// watchReports registers the figures of reports that wait.
func (a *App) watchReports(s *reports.Service) {
	var mu sync.Mutex
	var last reports.Backlog
	var at time.Time
	backlog := func() reports.Backlog {
		mu.Lock()
		defer mu.Unlock()
		now := a.DB.Now()
		if now.Sub(at) < backlogAge {
			return last
		}
		ctx, cancel := context.WithTimeout(context.Background(), backlogAge)
		defer cancel()
		if b, err := s.Backlog(ctx); err == nil {
			last, at = b, now
		}
		return last
	}
	a.Metrics.Gauge("report_jobs_waiting", "Uploaded lab reports that are not read yet, of all nodes.", func() float64 { return float64(backlog().Jobs) })
	a.Metrics.Gauge("report_job_oldest_waiting_seconds", "How long the oldest of them has been waiting.", func() float64 {
		b := backlog()
		if b.Oldest.IsZero() {
			return 0
		}
		return max(0, a.DB.Now().Sub(b.Oldest).Seconds())
	})
}
