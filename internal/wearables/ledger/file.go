package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"hale/internal/people/users"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// File is an upload on the disk of this node.
type File struct {
	Team   teams.ID
	User   users.ID
	Kind   string
	Path   string
	Size   int64
	SHA256 []byte
}

// KeepFile copies a file into the ledger, a chunk in each transaction, so that the writer
// is occupied for a mebibyte at a time. The payload is valid once it is complete. A file
// that is stored already is counted again.
func (l *Ledger) KeepFile(ctx context.Context, db *store.DB, f File) (ID, error) {
	p, known, err := l.start(ctx, db, f)
	if err != nil || known {
		return p.ID, err
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return p.ID, fmt.Errorf("ledger: storing a file: %w", err)
	}
	defer file.Close()
	chunk, packed := make([]byte, chunkSize), make([]byte, 0, chunkSize+chunkSize/8)
	for {
		n, err := io.ReadFull(file, chunk)
		if n == 0 && errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return p.ID, fmt.Errorf("ledger: storing a file: %w", err)
		}
		packed = encoder.EncodeAll(chunk[:n], packed[:0])
		var written int64
		if err := db.Write(ctx, func(tx *store.Tx) (err error) {
			written, err = p.putChunk(ctx, tx, p.chunks, packed)
			return err
		}); err != nil {
			return p.ID, err
		}
		p.chunks++
		p.Packed += written
	}
	return p.ID, db.Write(ctx, func(tx *store.Tx) error { return p.complete(ctx, tx) })
}

// start finds the payload of the file or creates one.
func (l *Ledger) start(ctx context.Context, db *store.DB, f File) (p Payload, known bool, err error) {
	err = db.Write(ctx, func(tx *store.Tx) error {
		key, err := l.keyOf(ctx, tx, f.Team, f.User)
		if err != nil {
			return err
		}
		p = Payload{
			ID: digest(key, noHour, f.Kind, "", "", f.SHA256), Team: f.Team, User: f.User,
			Kind: f.Kind, Mapping: Mapping(f.Kind), Size: f.Size,
		}
		if err := p.put(ctx, tx, nil); err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT whole FROM payloads WHERE `+byKey, p.key()...).Scan(&known)
		if err != nil {
			return fmt.Errorf("ledger: storing a file: %w", err)
		}
		return nil
	})
	return p, known, err
}

func (p *Payload) complete(ctx context.Context, tx *store.Tx) error {
	_, err := tx.Exec(ctx, `UPDATE payloads SET whole = TRUE, chunks = $5, packed = $6 WHERE `+byKey, p.key(p.chunks, p.Packed)...)
	if err != nil {
		return fmt.Errorf("ledger: storing a file: %w", err)
	}
	return nil
}

// Restore writes a payload as received, a chunk at a time.
func (p *Payload) Restore(ctx context.Context, db *store.DB, to io.Writer) error {
	var plain []byte
	for number := range max(1, p.chunks) {
		var packed []byte
		err := db.Scan(ctx, func(tx *store.Tx) (err error) {
			packed, err = p.chunk(ctx, tx, number)
			return err
		})
		if err != nil {
			return err
		}
		if plain, err = unpackChunk(plain[:0], packed); err != nil {
			return err
		}
		if _, err := to.Write(plain); err != nil {
			return fmt.Errorf("ledger: restoring a payload: %w", err)
		}
	}
	return nil
}

// FileIDs returns a function for the ids of a user's files. It needs the user's key of
// digests, which the first payload creates.
func FileIDs(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (func(kind string, sha256 []byte) ID, error) {
	key, err := readKey(ctx, tx, team, user)
	if err != nil {
		return nil, fmt.Errorf("ledger: reading the key of digests: %w", err)
	}
	return func(kind string, sha256 []byte) ID { return digest(key, noHour, kind, "", "", sha256) }, nil
}

// FileOf finds the payload of an upload by content. ok is false if it is not stored or not
// complete.
func (l *Ledger) FileOf(ctx context.Context, tx *store.Tx, f File) (p Payload, ok bool, err error) {
	key, err := readKey(ctx, tx, f.Team, f.User)
	if errors.Is(err, store.ErrNoRows) {
		return p, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("ledger: reading the key of digests: %w", err)
	}
	at := Payload{Team: f.Team, User: f.User, ID: digest(key, noHour, f.Kind, "", "", f.SHA256)}
	err = p.scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM payloads WHERE `+byKey+` AND whole`, at.key()...))
	if errors.Is(err, store.ErrNoRows) {
		return p, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("ledger: finding a file: %w", err)
	}
	return p, true, nil
}
