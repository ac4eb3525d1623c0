package imports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/ledger"
)

// An upload in parts can be resumed after a broken connection or a failed node. The
// received chunks are in the database, sealed, and any node accepts the next part.

// PartialID identifies an upload in parts.
type PartialID = ids.ID[Partial]

// Partial is a file that is being uploaded in parts.
type Partial struct {
	ID          PartialID
	Team        teams.ID
	User        users.ID
	Kind        string // empty if it is to be recognised
	Size        int64  // of the whole file
	SHA256      []byte // of the whole file; empty if not stated
	HistoryOnly bool
	Offset      int64 // received bytes
	Import      *ID   // its import, once it is complete
	CreatedAt   time.Time
}

// NewPartial describes a file before the first part.
type NewPartial struct {
	Size        int64
	Kind        string
	SHA256      string // of the whole file, in hexadecimal; optional
	HistoryOnly bool
}

// Begin creates an upload in parts. With a digest it returns the unfinished upload of the
// same file, if there is one.
func (s *Service) Begin(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, n NewPartial) (Partial, error) {
	kind, err := checkKind(n.Kind, "body", "kind")
	if err != nil {
		return Partial{}, err
	}
	sum, err := hex.DecodeString(n.SHA256)
	switch {
	case n.Size < 1:
		return Partial{}, fault.New(fault.Invalid, "Input should be greater than 0").At("body", "size").WithType("greater_than")
	case n.Size > s.maxUpload():
		return Partial{}, fault.Newf(fault.TooLarge, "An import may have at most %d bytes", s.maxUpload()).At("body", "size")
	case err != nil || len(sum) > 0 && len(sum) != sha256.Size:
		return Partial{}, fault.New(fault.Invalid, "Value error, should be a SHA-256 in hexadecimal").At("body", "sha256")
	}
	p := Partial{
		ID: ids.FromUUID[Partial](uuid.New()), Team: team, User: user, Kind: kind, Size: n.Size,
		SHA256: sum, HistoryOnly: n.HistoryOnly, CreatedAt: tx.Now(),
	}
	if len(sum) > 0 {
		if broken, err := findUnfinished(ctx, tx, &p); !errors.Is(err, store.ErrNoRows) {
			return broken, err
		}
	}
	return p, insertPartial(ctx, tx, &p)
}

// chunkSize is the size of a stored chunk: a killed process loses at most that much of a
// part.
const chunkSize = 1 << 20

var errTooLong = fault.New(fault.Invalid, "The file is longer than the size that was stated").At("body")

// ReceivePart appends a part. The received bytes stay if the connection breaks. offset
// must be that of the upload. length is the stated length of the part; -1 if unknown.
func (s *Service) ReceivePart(ctx context.Context, p *Partial, offset, length int64, body io.Reader) error {
	switch {
	case offset != p.Offset:
		return wrongOffset(p)
	case length > p.Size-p.Offset:
		return errTooLong
	}
	kept := context.WithoutCancel(ctx) // store the bytes of a caller who has gone
	in := &bodyReader{ctx: ctx, in: body}
	var packed []byte
	for chunk, ended := make([]byte, chunkSize), false; !ended; {
		n, err := io.ReadFull(in, chunk)
		if ended = err != nil || p.Offset+int64(n) >= p.Size; ended {
			beyond, _ := io.ReadFull(in, make([]byte, 1))
			if p.Offset+int64(n+beyond) > p.Size {
				return errTooLong
			}
		}
		if n == 0 {
			break
		}
		packed = ledger.PackChunk(packed[:0], chunk[:n])
		if err := s.keepChunk(kept, p, int64(n), packed); err != nil {
			return err
		}
	}
	return in.err
}

// wrongOffset returns the fault that states the offset of an upload.
func wrongOffset(p *Partial) error {
	return fault.Newf(fault.Conflict, "The upload is at offset %d", p.Offset)
}

// Complete creates the import of a complete upload. It abandons a file of no kind, or with
// another digest than stated.
func (s *Service) Complete(ctx context.Context, p *Partial) (made Import, err error) {
	if err := s.claim(ctx, p); err != nil {
		return Import{}, err
	}
	defer func() {
		if p.Import == nil {
			err = errors.Join(err, s.release(ctx, p))
		}
	}()
	up, err := s.gather(ctx, p)
	switch {
	case fault.Is(err, fault.Invalid): // the file is at fault
		return made, errors.Join(err, s.Abandon(ctx, p))
	case err != nil:
		return made, err
	}
	if made, err = s.adopt(ctx, p, up); err == nil {
		p.Import = &made.ID
		s.removeChunks(ctx, p)
	}
	return made, err
}

// gather writes the parts to a file and recognises its kind.
func (s *Service) gather(ctx context.Context, p *Partial) (_ *Upload, err error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("imports: creating the spool folder: %w", err)
	}
	up := &Upload{service: s, name: uuid.NewString(), Size: p.Size}
	receiving.Store(up.name, true)
	defer func() {
		if err != nil {
			s.remove(up.name + unfinished)
			up.Discard()
		}
	}()
	digest := sha256.New()
	err = s.write(up, func(to io.Writer) error { return s.readChunks(ctx, p, io.MultiWriter(to, digest)) })
	if err != nil {
		return nil, isDiskFull(err)
	}
	up.SHA256 = digest.Sum(nil)
	if len(p.SHA256) > 0 && string(p.SHA256) != string(up.SHA256) {
		return nil, fault.New(fault.Invalid, "The file is not the one whose SHA-256 was stated").At("body")
	}
	up.Kind, err = s.recognise(s.path(up.name), p.Kind)
	return up, err
}

// adopt creates the import and stores it with the upload, for a sender who did not receive
// the answer.
func (s *Service) adopt(ctx context.Context, p *Partial, up *Upload) (made Import, err error) {
	defer func() {
		if err != nil {
			up.Discard()
		}
	}()
	if err := s.Share(ctx, p.Team, p.User, up); err != nil {
		return made, err
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		user, err := users.Get(ctx, tx, p.Team, p.User)
		if err != nil {
			return err
		}
		now, err := lockPartial(ctx, tx, p)
		if err != nil {
			return err
		}
		if now.Import != nil { // another node made it
			tx.AfterCommit(up.Discard)
			made, err = Get(ctx, tx, p.Team, p.User, *now.Import)
			return err
		}
		if made, err = s.Create(ctx, tx, user, up, p.HistoryOnly); err != nil {
			return err
		}
		return notePartial(ctx, tx, p, made.ID)
	})
	return made, err
}

// Abandon removes an upload and its chunks.
func (s *Service) Abandon(ctx context.Context, p *Partial) error {
	err := s.DB.Write(ctx, func(tx *store.Tx) error { return giveUp(ctx, tx, p) })
	if err == nil {
		s.removeChunks(ctx, p)
	}
	return err
}

// removeChunks removes the chunks of an upload. If it fails, they are swept later.
func (s *Service) removeChunks(ctx context.Context, p *Partial) {
	if err := s.clear(ctx, p); err != nil {
		s.log().WarnContext(ctx, "removing what arrived of an upload", "error", err)
	}
}
