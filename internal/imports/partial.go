package imports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"hale/internal/fault"
	"hale/internal/ids"
	"hale/internal/store"
	"hale/internal/teams"
	"hale/internal/users"
)

// An upload in parts survives a broken line: what arrived lies on disk beside a
// small file that says whose it is, and the sender goes on behind it. The file
// itself says how much there is, so a crash loses nothing that was synced.

// PartialID identifies an upload in parts.
type PartialID = ids.Of[Partial]

// Partial is a file that is being uploaded in parts.
type Partial struct {
	ID          PartialID `json:"id"`
	Team        teams.ID  `json:"team"`
	User        users.ID  `json:"user"`
	Kind        string    `json:"kind"`   // empty is recognised
	Size        int64     `json:"size"`   // of the whole file
	SHA256      string    `json:"sha256"` // in hexadecimal; empty when the sender did not say
	HistoryOnly bool      `json:"history_only"`
	CreatedAt   time.Time `json:"created_at"`
	Import      *ID       `json:"import"` // what became of it, once it is whole

	Offset int64 `json:"-"` // bytes that are here
}

// NewPartial is what a sender says before the first part.
type NewPartial struct {
	Size        int64
	Kind        string
	SHA256      string // of the whole file, in hexadecimal; optional
	HistoryOnly bool
}

func dataOf(id PartialID) string { return id.String() + ".data" + unfinished }
func metaOf(id PartialID) string { return id.String() + ".meta" + unfinished }

// Begin makes room for an upload in parts. A sender who says the digest of the
// file gets back the upload of it that broke off, if there is one.
func (s *Service) Begin(team teams.ID, user users.ID, n NewPartial) (Partial, error) {
	kind, err := checkKind(n.Kind, "body", "kind")
	if err != nil {
		return Partial{}, err
	}
	p := Partial{
		ID: ids.From[Partial](uuid.New()), Team: team, User: user, Kind: kind, Size: n.Size,
		SHA256: strings.ToLower(n.SHA256), HistoryOnly: n.HistoryOnly, CreatedAt: s.DB.Now(),
	}
	switch sum, err := hex.DecodeString(p.SHA256); {
	case p.Size < 1:
		return p, fault.New(fault.Invalid, "Input should be greater than 0").At("body", "size").WithType("greater_than")
	case p.Size > s.most():
		return p, fault.Newf(fault.TooLarge, "An import may have at most %d bytes", s.most()).At("body", "size")
	case err != nil || p.SHA256 != "" && len(sum) != sha256.Size:
		return p, fault.New(fault.Invalid, "Value error, should be a SHA-256 in hexadecimal").At("body", "sha256")
	}
	if p.SHA256 != "" {
		if broken, ok := s.brokenOff(&p); ok {
			return broken, nil
		}
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return p, fmt.Errorf("imports: making the spool folder: %w", err)
	}
	if err := s.describe(&p); err != nil {
		return p, err
	}
	file, err := os.OpenFile(s.path(dataOf(p.ID)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return p, fmt.Errorf("imports: beginning an upload: %w", err)
	}
	return p, errors.Join(file.Sync(), file.Close(), store.SyncFolder(s.Dir))
}

// brokenOff finds an upload of the same file for the same order.
func (s *Service) brokenOff(like *Partial) (Partial, bool) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return Partial{}, false
	}
	for _, entry := range entries {
		text, isMeta := strings.CutSuffix(entry.Name(), ".meta"+unfinished)
		id, err := ids.Parse[Partial](text)
		if !isMeta || err != nil {
			continue
		}
		p, err := s.Partial(like.Team, like.User, id)
		if err == nil && p.Import == nil && p.SHA256 == like.SHA256 && p.Size == like.Size &&
			p.Kind == like.Kind && p.HistoryOnly == like.HistoryOnly {
			return p, true
		}
	}
	return Partial{}, false
}

// describe writes what an upload is, whole or not at all.
func (s *Service) describe(p *Partial) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	draft := s.path(uuid.NewString() + unfinished)
	file, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("imports: noting an upload: %w", err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(draft, s.path(metaOf(p.ID)))
	}
	if err != nil {
		return noRoom(errors.Join(fmt.Errorf("imports: noting an upload: %w", err), os.Remove(draft)))
	}
	return store.SyncFolder(s.Dir)
}

// appending has the uploads that receive a part in this process.
var appending sync.Map // by PartialID

// errNoPartial is the answer to ids of uploads that are not on this node.
var errNoPartial = fault.New(fault.NotFound, "Upload not found")

// Partial returns an upload in parts. One of another user is unknown, and so
// is one that another node took.
func (s *Service) Partial(team teams.ID, user users.ID, id PartialID) (p Partial, err error) {
	text, err := os.ReadFile(s.path(metaOf(id)))
	if errors.Is(err, os.ErrNotExist) {
		return p, errNoPartial
	}
	if err != nil {
		return p, fmt.Errorf("imports: reading an upload: %w", err)
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("imports: reading an upload: %w", err)
	}
	if p.Team != team || p.User != user {
		return Partial{}, errNoPartial
	}
	if p.Import != nil {
		p.Offset = p.Size
		return p, nil
	}
	info, err := os.Stat(s.path(dataOf(id)))
	if errors.Is(err, os.ErrNotExist) {
		return p, errNoPartial
	}
	if err != nil {
		return p, fmt.Errorf("imports: reading an upload: %w", err)
	}
	p.Offset = info.Size()
	return p, nil
}

// ReceivePart appends a part and, when the file is whole with it, calls whole. One
// part of an upload is received at a time, and a last one to the end of that.
func (s *Service) ReceivePart(ctx context.Context, p *Partial, offset int64, body io.Reader, whole func() error) error {
	if _, busy := appending.LoadOrStore(p.ID, true); busy {
		return fault.New(fault.Conflict, "A part of this upload is being received")
	}
	defer appending.Delete(p.ID)
	fresh, err := s.Partial(p.Team, p.User, p.ID)
	if err != nil {
		return err
	}
	*p = fresh
	if err := s.append(ctx, p, offset, body); err != nil || p.Offset < p.Size || p.Import != nil {
		return err
	}
	return whole()
}

// append writes a part behind what is here. Whatever of it arrives stays, also
// when the line breaks; offset must be where the upload is.
func (s *Service) append(ctx context.Context, p *Partial, offset int64, body io.Reader) error {
	if offset != p.Offset {
		return fault.Newf(fault.Conflict, "The upload is at offset %d", p.Offset)
	}
	if p.Import != nil {
		return nil
	}
	file, err := os.OpenFile(s.path(dataOf(p.ID)), os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("imports: receiving a part: %w", err)
	}
	in := &reading{ctx: ctx, in: io.LimitReader(body, p.Size-p.Offset+1)}
	n, err := io.CopyBuffer(writing{file}, in, make([]byte, 1<<18))
	if p.Offset+n > p.Size { // more than there should be: none of this part counts
		err = errors.Join(file.Truncate(offset), fault.Newf(fault.Invalid, "The file is longer than the size that was stated").At("body"))
		n = 0
	}
	p.Offset += n
	if err == nil {
		err = in.err
	}
	return noRoom(errors.Join(err, file.Sync(), file.Close()))
}

// Complete makes an upload of parts that are all here, inside of ReceivePart. A file
// that is of no kind, or not the one that was announced, is removed.
func (s *Service) Complete(p *Partial) (*Upload, error) {
	sum, err := digestOf(s.path(dataOf(p.ID)))
	if err != nil {
		return nil, err
	}
	up := &Upload{service: s, name: uuid.NewString(), Size: p.Size, SHA256: sum}
	if p.SHA256 != "" && p.SHA256 != hex.EncodeToString(sum) {
		s.Abandon(p)
		return nil, fault.New(fault.Invalid, "The file is not the one whose SHA-256 was stated").At("body")
	}
	if up.Kind, err = s.recognise(s.path(dataOf(p.ID)), p.Kind); err != nil {
		if fault.KindOf(err) != fault.Internal { // the file is to blame
			s.Abandon(p)
		}
		return nil, err
	}
	// A second name for the same bytes: until the import is committed and noted,
	// a crash leaves the upload as it is, to be completed again.
	arriving.Store(up.name, true)
	if err := os.Link(s.path(dataOf(p.ID)), s.path(up.name)); err != nil {
		if err := os.Rename(s.path(dataOf(p.ID)), s.path(up.name)); err != nil { // a disk without such names
			arriving.Delete(up.name)
			return nil, fmt.Errorf("imports: completing an upload: %w", err)
		}
	}
	return up, store.SyncFolder(s.Dir)
}

func digestOf(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("imports: completing an upload: %w", err)
	}
	defer file.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return nil, fmt.Errorf("imports: completing an upload: %w", err)
	}
	return digest.Sum(nil), nil
}

// Imported notes what became of an upload, for a sender who missed the answer.
func (s *Service) Imported(p *Partial, id ID) error {
	p.Import = &id
	if err := s.describe(p); err != nil {
		return err
	}
	s.remove(dataOf(p.ID))
	return nil
}

// Abandon removes an upload and what arrived of it.
func (s *Service) Abandon(p *Partial) {
	s.remove(dataOf(p.ID))
	s.remove(metaOf(p.ID))
}
