package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"hale/internal/wearables/formats/applehealth/applehealthtest"
)

// measureApple imports a generated Apple Health export over HTTP twice. The
// first import has a quarter of the size, the second the whole size. Together
// they show whether the peak of memory grows with the file.
func measureApple(ctx context.Context, b *bench) error {
	users, err := makeUsers(ctx, b, 2)
	if err != nil {
		return err
	}
	for i, megabytes := range []int{max(1, b.appleMB/4), b.appleMB} {
		if err := b.importExport(ctx, users[i], megabytes); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) importExport(ctx context.Context, user string, megabytes int) error {
	path := filepath.Join(b.dir, fmt.Sprintf("export-%d.zip", megabytes))
	stats, err := writeExport(path, int64(megabytes)*1e6)
	if err != nil {
		return err
	}
	if err := b.server.ResetPeak(); err != nil {
		return err
	}
	use, err := watch(b.server)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := b.uploadAndWait(ctx, user, path); err != nil {
		return err
	}
	took := time.Since(start).Seconds()
	memory, err := b.server.Memory()
	if err != nil {
		return err
	}
	cpu, err := use.perRequest(stats.Records)
	if err != nil {
		return err
	}
	size := float64(stats.Bytes) / 1e6
	b.report.line(fmt.Sprintf("Apple export of %.0f MB", size), fmt.Sprintf("%.0f MB/s", size/took), fmt.Sprintf("%.1f s, upload included", took), "≥ 100 MB/s")
	b.report.line("  records", perSecond(float64(stats.Records)/took), fmt.Sprintf("%s records, %.2f µs of processor each", thousands(int64(stats.Records)), float64(cpu.Nanoseconds())/1e3), target(b, "≥ 300,000/s", ""))
	b.report.line("  peak memory", mib(memory.Peak), "", "≤ 400 MB at any size")
	return nil
}

// writeExport writes the zip file of a phone, once for each size.
func writeExport(path string, size int64) (applehealthtest.Stats, error) {
	file, err := os.Create(path)
	if err != nil {
		return applehealthtest.Stats{}, err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	stats, err := applehealthtest.WriteZip(out, applehealthtest.Options{Bytes: size})
	return stats, errors.Join(err, out.Flush(), file.Close())
}

// uploadAndWait sends the file and returns when its import is done.
func (b *bench) uploadAndWait(ctx context.Context, user, path string) error {
	id, err := b.upload(ctx, user, path)
	if err != nil {
		return err
	}
	return b.imported(ctx, user, id)
}

func (b *bench) post(ctx context.Context, path, kind string, body io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.server.Address()+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("x-service-api-key", b.key)
	request.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("POST %s was answered %d: %.300s", path, response.StatusCode, text)
	}
	return text, err
}
