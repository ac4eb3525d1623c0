package imports

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Upload is a received file on disk, of a known kind.
type Upload struct {
	Kind   string
	Size   int64
	SHA256 []byte

	service *Service
	name    string // in the spool folder
}

// Discard removes the file of an upload without an import.
func (u *Upload) Discard() {
	u.service.remove(u.name)
	u.service.receiving.Delete(u.name)
}

// unfinishedSuffix marks files that are still being received.
const unfinishedSuffix = ".part"

// Receive streams a body into the spool folder, syncs file and folder, and recognises the
// kind if it is empty.
func (s *Service) Receive(ctx context.Context, kind string, body io.Reader) (*Upload, error) {
	kind, err := checkKind(kind, "query", "kind")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("imports: creating the spool folder: %w", err)
	}
	up := &Upload{service: s, name: uuid.NewString()}
	s.receiving.Store(up.name, true)
	if err := s.save(ctx, up, body); err != nil {
		s.receiving.Delete(up.name)
		s.remove(up.name + unfinishedSuffix)
		return nil, isDiskFull(err)
	}
	if up.Kind, err = s.recognise(s.path(up.name), kind); err != nil {
		up.Discard()
		return nil, err
	}
	return up, nil
}

func (s *Service) path(name string) string { return filepath.Join(s.Dir, name) }

// save writes the body to the file of the upload.
func (s *Service) save(ctx context.Context, up *Upload, body io.Reader) error {
	most := s.maxUpload()
	digest := sha256.New()
	in := &bodyReader{ctx: ctx, in: io.LimitReader(body, most+1)}
	err := s.write(up, func(to io.Writer) (err error) {
		up.Size, err = io.CopyBuffer(io.MultiWriter(to, digest), in, make([]byte, 1<<18))
		switch {
		case in.err != nil:
			return in.err
		case err != nil:
			return err
		case up.Size > most:
			return fault.Newf(fault.TooLarge, "An import may have at most %d bytes", most)
		case up.Size == 0:
			return fault.New(fault.Invalid, "The body is empty").At("body").WithType("missing")
		}
		return nil
	})
	up.SHA256 = digest.Sum(nil)
	return err
}

// write creates the file of an upload, which gets its name when it is complete and on disk.
func (s *Service) write(up *Upload, fill func(to io.Writer) error) error {
	part := s.path(up.name + unfinishedSuffix)
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := fill(plainWriter{file}); err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close(), os.Rename(part, s.path(up.name))); err != nil {
		return err
	}
	return store.SyncFolder(s.Dir)
}

// plainWriter hides the other methods of a file, so that io.Copy uses our buffer and our
// reader.
type plainWriter struct{ io.Writer }

// bodyReader marks failures of the body, as opposed to those of the disk.
type bodyReader struct {
	ctx context.Context
	in  io.Reader
	err error
}

func (r *bodyReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		r.err = err
		return 0, err
	}
	n, err := r.in.Read(p)
	if err != nil && err != io.EOF {
		r.err = fault.New(fault.Refused, "The body could not be read to its end")
		return n, r.err
	}
	return n, err
}

func isDiskFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fault.New(fault.Unavailable, "There is no room for the upload")
	}
	return err
}

// remove deletes a file of the spool folder. If that fails, it is swept later.
func (s *Service) remove(name string) {
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.log().Warn("an uploaded file cannot be removed", "error", err)
	}
}

// ReplayPrefix is the prefix of folders in which payloads are reprocessed.
const ReplayPrefix = "replay-"

func (s *Service) removeAll(name string) {
	if err := os.RemoveAll(s.path(name)); err != nil {
		s.log().Warn("a folder of the spool cannot be removed", "error", err)
	}
}

// Ages at which files without a reference are swept. An upload may take hours to arrive,
// and a day to be resumed. Reprocessing takes at most a day.
const (
	orphanAge     = 10 * time.Minute
	unfinishedAge = 24 * time.Hour
)

// KeepSwept sweeps now and then at intervals, until ctx ends. Every node does so: a file
// here remains after another node ran its import or erased its user.
func (s *Service) KeepSwept(ctx context.Context, every time.Duration) error {
	again := time.NewTicker(every)
	defer again.Stop()
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.log().ErrorContext(ctx, "old uploads cannot be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}

// Sweep removes files without a queued or running import, abandoned uploads in parts, and
// folders that a crash left.
func (s *Service) Sweep(ctx context.Context) error {
	if err := s.sweepPartials(ctx); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("imports: sweeping: %w", err)
	}
	now := s.DB.Now()
	for _, entry := range entries {
		name := entry.Name()
		info, err := entry.Info()
		if err != nil { // another sweep removed it
			continue
		}
		age := now.Sub(info.ModTime())
		switch {
		case entry.IsDir():
			if strings.HasPrefix(name, ReplayPrefix) && age >= unfinishedAge {
				s.removeAll(name)
			}
			continue
		case !entry.Type().IsRegular(), age < orphanAge:
			continue
		case strings.HasSuffix(name, unfinishedSuffix):
			if age >= unfinishedAge {
				s.remove(name)
			}
			continue
		}
		if _, here := s.receiving.Load(name); here {
			continue
		}
		live, err := s.isReferred(ctx, name)
		if err != nil {
			return err
		}
		if !live {
			s.remove(name)
		}
	}
	return nil
}

// isReferred reports whether a queued or running import needs the file.
func (s *Service) isReferred(ctx context.Context, name string) (live bool, err error) {
	err = s.DB.Read(store.AsSystem(ctx), func(tx *store.Tx) error {
		i, err := bySpool(ctx, tx, name)
		if errors.Is(err, store.ErrNoRows) {
			live = false
			return nil
		}
		if err != nil {
			return fmt.Errorf("imports: sweeping: %w", err)
		}
		if err := reconcile(ctx, tx, &i); err != nil {
			return err
		}
		live = i.live()
		return nil
	})
	return live, err
}
