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

// An upload in parts survives a broken line, and the node that took its
// beginning: what arrived lies in the database, sealed, and whichever node is
// asked goes on behind it.

// PartialID identifies an upload in parts.
type PartialID = ids.ID[Partial]

// Partial is a file that is being uploaded in parts.
type Partial struct {
	ID          PartialID
	Team        teams.ID
	User        users.ID
	Kind        string // empty is recognised
	Size        int64  // of the whole file
	SHA256      []byte // of the whole file; empty when the sender did not say
	HistoryOnly bool
	Offset      int64 // bytes that are here
	Import      *ID   // what became of it, once it is whole
	CreatedAt   time.Time
}

// NewPartial is what a sender says before the first part.
type NewPartial struct {
	Size        int64
	Kind        string
	SHA256      string // of the whole file, in hexadecimal; optional
	HistoryOnly bool
}

// Begin makes room for an upload in parts. A sender who says the digest of the
// file gets back the upload of it that broke off, if there is one.
func (s *Service) Begin(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, n NewPartial) (Partial, error) {
	kind, err := checkKind(n.Kind, "body", "kind")
	if err != nil {
		return Partial{}, err
	}
	sum, err := hex.DecodeString(n.SHA256)
	switch {
	case n.Size < 1:
		return Partial{}, fault.New(fault.Invalid, "Input should be greater than 0").At("body", "size").WithType("greater_than")
	case n.Size > s.most():
		return Partial{}, fault.Newf(fault.TooLarge, "An import may have at most %d bytes", s.most()).At("body", "size")
	case err != nil || len(sum) > 0 && len(sum) != sha256.Size:
		return Partial{}, fault.New(fault.Invalid, "Value error, should be a SHA-256 in hexadecimal").At("body", "sha256")
	}
	p := Partial{
		ID: ids.FromUUID[Partial](uuid.New()), Team: team, User: user, Kind: kind, Size: n.Size,
		SHA256: sum, HistoryOnly: n.HistoryOnly, CreatedAt: tx.Now(),
	}
	if len(sum) > 0 {
		if broken, err := brokenOff(ctx, tx, &p); !errors.Is(err, store.ErrNoRows) {
			return broken, err
		}
	}
	return p, insertPartial(ctx, tx, &p)
}

// chunkSize is how much of a part is stored at once, and the most of it that a
// killed process loses.
const chunkSize = 1 << 20

var errTooLong = fault.New(fault.Invalid, "The file is longer than the size that was stated").At("body")

// ReceivePart stores a part behind what is here. Whatever of it arrives stays, also
// when the line breaks; offset must be where the upload is. length is how long
// the part says it is, -1 when it does not.
func (s *Service) ReceivePart(ctx context.Context, p *Partial, offset, length int64, body io.Reader) error {
	switch {
	case offset != p.Offset:
		return isAt(p)
	case length > p.Size-p.Offset:
		return errTooLong
	}
	kept := context.WithoutCancel(ctx) // what came of a caller who is gone
	in := &reading{ctx: ctx, in: body}
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

// isAt tells a sender who thinks otherwise where an upload is.
func isAt(p *Partial) error {
	return fault.Newf(fault.Conflict, "The upload is at offset %d", p.Offset)
}

// Complete makes an import of an upload whose parts are all here. A file that is of
// no kind, or not the one that was announced, is given up.
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
	case fault.Is(err, fault.Invalid): // the file is to blame
		return made, errors.Join(err, s.Abandon(ctx, p))
	case err != nil:
		return made, err
	}
	if made, err = s.adopt(ctx, p, up); err == nil {
		p.Import = &made.ID
		s.tidy(ctx, p)
	}
	return made, err
}

// gather writes the parts to a file, and finds out what that is.
func (s *Service) gather(ctx context.Context, p *Partial) (_ *Upload, err error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("imports: making the spool folder: %w", err)
	}
	up := &Upload{service: s, name: uuid.NewString(), Size: p.Size}
	arriving.Store(up.name, true)
	defer func() {
		if err != nil {
			s.remove(up.name + unfinished)
			up.Discard()
		}
	}()
	digest := sha256.New()
	err = s.write(up, func(to io.Writer) error { return s.readChunks(ctx, p, io.MultiWriter(to, digest)) })
	if err != nil {
		return nil, noRoom(err)
	}
	up.SHA256 = digest.Sum(nil)
	if len(p.SHA256) > 0 && string(p.SHA256) != string(up.SHA256) {
		return nil, fault.New(fault.Invalid, "The file is not the one whose SHA-256 was stated").At("body")
	}
	up.Kind, err = s.recognise(s.path(up.name), p.Kind)
	return up, err
}

// adopt makes the import, and notes it with the upload for a sender who misses
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
		if now.Import != nil { // another node was faster
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

// Abandon gives an upload up, and removes what arrived of it.
func (s *Service) Abandon(ctx context.Context, p *Partial) error {
	err := s.DB.Write(ctx, func(tx *store.Tx) error { return giveUp(ctx, tx, p) })
	if err == nil {
		s.tidy(ctx, p)
	}
	return err
}

// tidy removes what is not needed any more. What cannot be removed now is swept
// later.
func (s *Service) tidy(ctx context.Context, p *Partial) {
	if err := s.clear(ctx, p); err != nil {
		s.log().WarnContext(ctx, "removing what arrived of an upload", "error", err)
	}
}
