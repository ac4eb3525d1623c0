package imports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/ledger"
)

// An upload in parts can be resumed after a broken connection or a failed node. The
// received chunks are in the database, sealed, and any node accepts the next part.

// PartialID identifies an upload in parts.
type PartialID = ids.ID[PartialUpload]

// PartialUpload is a file that is being uploaded in parts.
type PartialUpload struct {
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
func (s *Service) Begin(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, n NewPartial) (PartialUpload, error) {
	kind, err := checkKind(n.Kind, "body", "kind")
	if err != nil {
		return PartialUpload{}, err
	}
	sum, err := hex.DecodeString(n.SHA256)
	switch {
	case n.Size < 1:
		return PartialUpload{}, fault.New(fault.Invalid, "Input should be greater than 0").At("body", "size").WithType("greater_than")
	case n.Size > s.maxUpload():
		return PartialUpload{}, fault.Newf(fault.TooLarge, "An import may have at most %d bytes", s.maxUpload()).At("body", "size")
	case err != nil || len(sum) > 0 && len(sum) != sha256.Size:
		return PartialUpload{}, fault.New(fault.Invalid, "Value error, should be a SHA-256 in hexadecimal").At("body", "sha256")
	}
	p := PartialUpload{
		ID: ids.FromUUID[PartialUpload](uuid.New()), Team: team, User: user, Kind: kind, Size: n.Size,
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
func (s *Service) ReceivePart(ctx context.Context, p *PartialUpload, offset, length int64, body io.Reader) error {
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
func wrongOffset(p *PartialUpload) error {
	return fault.Newf(fault.Conflict, "The upload is at offset %d", p.Offset)
}

// Complete creates the import of a complete upload. It abandons a file of no kind, or with
// another digest than stated.
func (s *Service) Complete(ctx context.Context, p *PartialUpload) (made Import, err error) {
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
func (s *Service) gather(ctx context.Context, p *PartialUpload) (_ *Upload, err error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("imports: creating the spool folder: %w", err)
	}
	up := &Upload{service: s, name: uuid.NewString(), Size: p.Size}
	s.receiving.Store(up.name, true)
	defer func() {
		if err != nil {
			s.remove(up.name + unfinishedSuffix)
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
		return nil, fault.New(fault.Invalid, "The SHA-256 of the file differs from the stated one").At("body")
	}
	up.Kind, err = s.recognise(s.path(up.name), p.Kind)
	return up, err
}

// adopt creates the import and stores it with the upload, for a sender who did not receive
// the answer.
func (s *Service) adopt(ctx context.Context, p *PartialUpload, up *Upload) (made Import, err error) {
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
func (s *Service) Abandon(ctx context.Context, p *PartialUpload) error {
	err := s.DB.Write(ctx, func(tx *store.Tx) error { return giveUp(ctx, tx, p) })
	if err == nil {
		s.removeChunks(ctx, p)
	}
	return err
}

// removeChunks removes the chunks of an upload. If it fails, they are swept later.
func (s *Service) removeChunks(ctx context.Context, p *PartialUpload) {
	if err := s.clear(ctx, p); err != nil {
		s.log().WarnContext(ctx, "a partial upload cannot be removed", "error", err)
	}
}

const (
	partialColumns = `team_id, user_id, id, kind, size, sha256, history_only, arrived, import_id, created_at`
	thisPartial    = `team_id = $1 AND user_id = $2 AND id = $3`
)

// errNoPartial refuses the id of an unknown upload, or of another user.
var errNoPartial = fault.New(fault.NotFound, "Upload not found")

// errUploadRemoved refuses to complete an upload that was abandoned meanwhile, or that another node
// completed.
var errUploadRemoved = fault.New(fault.Conflict, "The upload no longer exists")

func scanPartial(row store.Scanner) (p PartialUpload, err error) {
	err = row.Scan(&p.Team, &p.User, &p.ID, &p.Kind, &p.Size, &p.SHA256, &p.HistoryOnly, &p.Offset, &p.Import, store.ScanTime(&p.CreatedAt))
	return p, err
}

func insertPartial(ctx context.Context, tx *store.Tx, p *PartialUpload) error {
	_, err := tx.Exec(ctx, `INSERT INTO uploads (team_id, user_id, id, kind, size, sha256, history_only, state, arrived, created_at, touched_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 'arriving', 0, $8, $8)`,
		p.Team, p.User, p.ID, p.Kind, p.Size, p.SHA256, p.HistoryOnly, store.Micros(p.CreatedAt))
	if err != nil {
		return fmt.Errorf("imports: beginning an upload: %w", err)
	}
	return nil
}

// findUnfinished finds an unfinished upload of the same file with the same options, or
// returns ErrNoRows.
func findUnfinished(ctx context.Context, tx *store.Tx, like *PartialUpload) (PartialUpload, error) {
	p, err := scanPartial(tx.QueryRow(ctx, `SELECT `+partialColumns+` FROM uploads WHERE team_id = $1 AND user_id = $2
		AND state = 'arriving' AND sha256 = $3 AND size = $4 AND kind = $5 AND history_only = $6 ORDER BY touched_at DESC, id LIMIT 1`,
		like.Team, like.User, like.SHA256, like.Size, like.Kind, like.HistoryOnly))
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		err = fmt.Errorf("imports: finding an unfinished upload: %w", err)
	}
	return p, err
}

// GetPartial returns an upload in parts of the user.
func GetPartial(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id PartialID) (PartialUpload, error) {
	return readPartial(ctx, tx, team, user, id, "")
}

// lockPartial reads an upload and locks it until the transaction ends.
func lockPartial(ctx context.Context, tx *store.Tx, p *PartialUpload) (PartialUpload, error) {
	return readPartial(ctx, tx, p.Team, p.User, p.ID, tx.ForUpdate())
}

func readPartial(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id PartialID, how string) (PartialUpload, error) {
	p, err := scanPartial(tx.QueryRow(ctx, `SELECT `+partialColumns+` FROM uploads WHERE `+thisPartial+` AND state <> 'given_up'`+how, team, user, id))
	if errors.Is(err, store.ErrNoRows) {
		return PartialUpload{}, errNoPartial
	}
	if err != nil {
		return PartialUpload{}, fmt.Errorf("imports: reading an upload: %w", err)
	}
	return p, nil
}

// keepChunk stores the next n bytes of an upload, packed, unless another node stored them.
func (s *Service) keepChunk(ctx context.Context, p *PartialUpload, n int64, packed []byte) error {
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		moved, err := tx.Exec(ctx, `UPDATE uploads SET arrived = arrived + $5, touched_at = $6 WHERE `+thisPartial+` AND state = 'arriving' AND arrived = $4`,
			p.Team, p.User, p.ID, p.Offset, n, store.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("imports: receiving a part: %w", err)
		}
		if moved == 0 {
			now, err := GetPartial(ctx, tx, p.Team, p.User, p.ID)
			if err == nil {
				err = wrongOffset(&now)
			}
			return err
		}
		sealed, err := tx.Seal(ctx, p.Team.UUID(), p.User.UUID(), p.place(p.Offset), packed)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO upload_chunks (team_id, user_id, upload_id, at, data) VALUES ($1, $2, $3, $4, $5)`,
			p.Team, p.User, p.ID, p.Offset, sealed)
		if err != nil {
			return fmt.Errorf("imports: receiving a part: %w", err)
		}
		return nil
	})
	if err == nil {
		p.Offset += n
	}
	return err
}

// place binds a chunk to its upload and its offset.
func (p *PartialUpload) place(at int64) string {
	return "upload_chunks.data:" + p.ID.String() + ":" + strconv.FormatInt(at, 10)
}

// readChunks writes all received bytes.
func (s *Service) readChunks(ctx context.Context, p *PartialUpload, to io.Writer) error {
	var plain []byte
	for at := int64(0); at < p.Size; at += int64(len(plain)) {
		err := s.DB.Scan(ctx, func(tx *store.Tx) error {
			var sealed []byte
			err := tx.QueryRow(ctx, `SELECT data FROM upload_chunks WHERE team_id = $1 AND user_id = $2 AND upload_id = $3 AND at = $4`,
				p.Team, p.User, p.ID, at).Scan(&sealed)
			if errors.Is(err, store.ErrNoRows) {
				return errUploadRemoved
			}
			if err != nil {
				return fmt.Errorf("imports: reading an upload: %w", err)
			}
			packed, err := tx.Unseal(ctx, p.Team.UUID(), p.User.UUID(), p.place(at), sealed)
			if err == nil {
				plain, err = ledger.UnpackChunk(plain[:0], packed)
			}
			return err
		})
		if err != nil {
			return err
		}
		if _, err := to.Write(plain); err != nil {
			return fmt.Errorf("imports: completing an upload: %w", err)
		}
	}
	return nil
}

// claim prevents other nodes from completing the upload, as long as this node is alive.
func (s *Service) claim(ctx context.Context, p *PartialUpload) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE uploads SET node_id = $4, touched_at = $5 WHERE `+thisPartial+`
			AND state = 'arriving' AND arrived = size AND `+jobs.FreeCondition("node_id"), p.Team, p.User, p.ID, s.node(), store.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("imports: completing an upload: %w", err)
		}
		if n == 0 {
			return fault.New(fault.Conflict, "this upload is being imported")
		}
		return nil
	})
}

// release ends the claim.
func (s *Service) release(ctx context.Context, p *PartialUpload) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE uploads SET node_id = NULL WHERE `+thisPartial, p.Team, p.User, p.ID)
		return err
	})
}

func notePartial(ctx context.Context, tx *store.Tx, p *PartialUpload, made ID) error {
	_, err := tx.Exec(ctx, `UPDATE uploads SET state = 'imported', import_id = $4, touched_at = $5 WHERE `+thisPartial,
		p.Team, p.User, p.ID, made, store.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("imports: completing an upload: %w", err)
	}
	return nil
}

func giveUp(ctx context.Context, tx *store.Tx, p *PartialUpload) error {
	_, err := tx.Exec(ctx, `UPDATE uploads SET state = 'given_up' WHERE `+thisPartial, p.Team, p.User, p.ID)
	if err != nil {
		return fmt.Errorf("imports: abandoning an upload: %w", err)
	}
	return nil
}

// chunksAtOnce bounds the chunks that one transaction deletes.
const chunksAtOnce = 16

const deleteChunks = `DELETE FROM upload_chunks WHERE team_id = $1 AND user_id = $2 AND upload_id = $3 AND at IN (
	SELECT at FROM upload_chunks WHERE team_id = $1 AND user_id = $2 AND upload_id = $3 ORDER BY at LIMIT $4)`

// clear removes the chunks of a completed or abandoned upload, and the row of an abandoned
// one.
func (s *Service) clear(ctx context.Context, p *PartialUpload) error {
	for n := int64(chunksAtOnce); n == chunksAtOnce; {
		if err := s.DB.Write(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.Exec(ctx, deleteChunks, p.Team, p.User, p.ID, chunksAtOnce)
			return err
		}); err != nil {
			return err
		}
	}
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE uploads SET state = 'cleared' WHERE `+thisPartial+` AND state = 'imported'`, p.Team, p.User, p.ID)
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM uploads WHERE `+thisPartial+` AND state = 'given_up'`, p.Team, p.User, p.ID)
		}
		return err
	})
}

// sweepPartials abandons uploads without new parts, and removes chunks that are left. It
// removes the rows of completed uploads at the same age.
func (s *Service) sweepPartials(ctx context.Context) error {
	system, before := store.AsSystem(ctx), store.Micros(s.DB.Now().Add(-unfinishedAge))
	var all []PartialUpload
	err := s.DB.Write(system, func(tx *store.Tx) error {
		_, err := tx.Exec(system, `UPDATE uploads SET state = 'given_up' WHERE state IN ('arriving', 'cleared') AND touched_at < $1`, before)
		if err != nil {
			return err
		}
		rows, err := tx.Query(system, `SELECT `+partialColumns+` FROM uploads WHERE state IN ('given_up', 'imported') LIMIT 1000`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for all = nil; rows.Next(); {
			p, err := scanPartial(rows)
			if err != nil {
				return err
			}
			all = append(all, p)
		}
		return rows.Err()
	})
	for i := 0; err == nil && i < len(all); i++ {
		err = s.clear(store.WithTeam(ctx, all[i].Team.UUID()), &all[i])
	}
	if err != nil {
		return fmt.Errorf("imports: sweeping uploads in parts: %w", err)
	}
	return nil
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	chunks := users.Records{Name: "upload_chunks", Erase: func(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
		n, err := tx.Exec(ctx, `DELETE FROM upload_chunks WHERE team_id = $1 AND user_id = $2 AND (upload_id, at) IN (
			SELECT upload_id, at FROM upload_chunks WHERE team_id = $1 AND user_id = $2 ORDER BY upload_id, at LIMIT $3)`, team, user, chunksAtOnce)
		return n == chunksAtOnce, err
	}}
	return append([]users.Records{chunks}, users.RowsOf("uploads", "imports")...)
}
