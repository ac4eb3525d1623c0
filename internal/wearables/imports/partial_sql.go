package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/ledger"
)

const (
	partialColumns = `team_id, user_id, id, kind, size, sha256, history_only, arrived, import_id, created_at`
	thisPartial    = `team_id = $1 AND user_id = $2 AND id = $3`
)

// errNoPartial refuses the id of an unknown upload, or of another user.
var errNoPartial = fault.New(fault.NotFound, "Upload not found")

// errUploadRemoved refuses to complete an upload that was abandoned meanwhile, or that another node
// completed.
var errUploadRemoved = fault.New(fault.Conflict, "The upload no longer exists")

func scanPartial(row store.Scanner) (p Partial, err error) {
	err = row.Scan(&p.Team, &p.User, &p.ID, &p.Kind, &p.Size, &p.SHA256, &p.HistoryOnly, &p.Offset, &p.Import, store.ScanTime(&p.CreatedAt))
	return p, err
}

func insertPartial(ctx context.Context, tx *store.Tx, p *Partial) error {
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
func findUnfinished(ctx context.Context, tx *store.Tx, like *Partial) (Partial, error) {
	p, err := scanPartial(tx.QueryRow(ctx, `SELECT `+partialColumns+` FROM uploads WHERE team_id = $1 AND user_id = $2
		AND state = 'arriving' AND sha256 = $3 AND size = $4 AND kind = $5 AND history_only = $6 ORDER BY touched_at DESC, id LIMIT 1`,
		like.Team, like.User, like.SHA256, like.Size, like.Kind, like.HistoryOnly))
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		err = fmt.Errorf("imports: finding an unfinished upload: %w", err)
	}
	return p, err
}

// GetPartial returns an upload in parts of the user.
func GetPartial(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id PartialID) (Partial, error) {
	return readPartial(ctx, tx, team, user, id, "")
}

// lockPartial reads an upload and locks it until the transaction ends.
func lockPartial(ctx context.Context, tx *store.Tx, p *Partial) (Partial, error) {
	return readPartial(ctx, tx, p.Team, p.User, p.ID, tx.ForUpdate())
}

func readPartial(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, id PartialID, how string) (Partial, error) {
	p, err := scanPartial(tx.QueryRow(ctx, `SELECT `+partialColumns+` FROM uploads WHERE `+thisPartial+` AND state <> 'given_up'`+how, team, user, id))
	if errors.Is(err, store.ErrNoRows) {
		return Partial{}, errNoPartial
	}
	if err != nil {
		return Partial{}, fmt.Errorf("imports: reading an upload: %w", err)
	}
	return p, nil
}

// keepChunk stores the next n bytes of an upload, packed, unless another node stored them.
func (s *Service) keepChunk(ctx context.Context, p *Partial, n int64, packed []byte) error {
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
func (p *Partial) place(at int64) string {
	return "upload_chunks.data:" + p.ID.String() + ":" + strconv.FormatInt(at, 10)
}

// readChunks writes all received bytes.
func (s *Service) readChunks(ctx context.Context, p *Partial, to io.Writer) error {
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
func (s *Service) claim(ctx context.Context, p *Partial) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE uploads SET node_id = $4, touched_at = $5 WHERE `+thisPartial+`
			AND state = 'arriving' AND arrived = size AND `+jobs.Free("node_id"), p.Team, p.User, p.ID, s.node(), store.Micros(tx.Now()))
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
func (s *Service) release(ctx context.Context, p *Partial) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE uploads SET node_id = NULL WHERE `+thisPartial, p.Team, p.User, p.ID)
		return err
	})
}

func notePartial(ctx context.Context, tx *store.Tx, p *Partial, made ID) error {
	_, err := tx.Exec(ctx, `UPDATE uploads SET state = 'imported', import_id = $4, touched_at = $5 WHERE `+thisPartial,
		p.Team, p.User, p.ID, made, store.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("imports: completing an upload: %w", err)
	}
	return nil
}

func giveUp(ctx context.Context, tx *store.Tx, p *Partial) error {
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
func (s *Service) clear(ctx context.Context, p *Partial) error {
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
	var all []Partial
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
