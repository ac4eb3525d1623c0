package teams

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Write access to the database alone makes no API key. A key is found by a code and
// checked by a proof, and both need the root key. The code is an HMAC of the digest of
// the key's text. The proof is an HMAC of the row. It does not fit any more if a person
// moves a row to another team, widens its rights or removes its end.

// The purposes of the keys that the root key gives.
const (
	codePurpose  = store.KeyCodePurpose
	proofPurpose = "API key rows"
)

// codeOf returns the code of the digest of a key's text.
func codeOf(tx *store.Tx, digest []byte) ([]byte, error) { return tx.Root(codePurpose).Code(digest) }

// row returns the contents of the row that its proof covers.
func (k Key) row(code []byte) []byte {
	end := int64(-1)
	if k.ExpiresAt != nil {
		end = k.ExpiresAt.UnixMicro()
	}
	return fmt.Appendf(nil, "%s\n%s\n%x\n%s\n%s\n%t\n%d", k.ID, k.Team, code,
		joinScopes(k.Rights.Scopes), joinAddresses(k.Rights.Addresses), k.Rights.PersonalData, end)
}

func (k Key) prove(tx *store.Tx, code []byte) ([]byte, error) {
	return tx.Root(proofPurpose).Code(k.row(code))
}

// requireRootKey returns an error if this process has no root key, or another one than
// the database: a key with its code would open nothing.
func requireRootKey(ctx context.Context, tx *store.Tx) error {
	_, err := tx.Seal(ctx, uuid.Nil, uuid.Nil, "root key", nil)
	if err != nil {
		return fmt.Errorf("teams: an API key needs the root key of the database: %w", err)
	}
	return nil
}

// find returns the key with the digest of a text, or store.ErrNoRows. A row without a
// valid proof is no key.
func find(ctx context.Context, tx *store.Tx, digest []byte) (Key, error) {
	for _, code := range tx.Root(codePurpose).Codes(digest) {
		var proof []byte
		key, err := scanKey(tx.QueryRow(ctx, `SELECT `+keyColumns+`, proof FROM api_keys WHERE code = $1`, code), &proof)
		switch {
		case errors.Is(err, store.ErrNoRows):
		case err != nil:
			return Key{}, err
		case tx.Root(proofPurpose).CheckCode(key.row(code), proof):
			return key, nil
		}
	}
	return Key{}, store.ErrNoRows
}

// digestTime is the time for which PostgreSQL keeps the digests of keys of older
// versions. So nodes of these versions can serve during an update.
const digestTime = 24 * time.Hour

// Coding is the report of CodeKeys.
type Coding struct {
	Coded   int // keys of an older version that got a code
	Refused int // keys without a code, which open nothing
}

// CodeKeys gives the keys of an older version their codes, once per database. It removes
// their digests when no node of that version can serve any more. Several nodes may call
// it at once.
//
// known says that this data folder has already served the database with codes. Then a
// database that claims to have none was changed by hand, or is a backup of an older
// version. CodeKeys gives such a database no codes.
func CodeKeys(ctx context.Context, tx *store.Tx, known bool) (c Coding, err error) {
	if err := tx.Lock(ctx, "codes of API keys"); err != nil {
		return c, err
	}
	var codedAt int64
	if err := tx.QueryRow(ctx, `SELECT keys_coded_at FROM instance WHERE id = 1`).Scan(&codedAt); err != nil {
		return c, fmt.Errorf("teams: coding keys: %w", err)
	}
	if codedAt == 0 && !known {
		if c.Coded, err = codeAll(ctx, tx); err != nil {
			return c, fmt.Errorf("teams: coding keys: %w", err)
		}
		codedAt = tx.Now().UnixMicro()
		if _, err := tx.Exec(ctx, `UPDATE instance SET keys_coded_at = $1 WHERE id = 1`, codedAt); err != nil {
			return c, err
		}
	}
	if tx.Engine() == store.SQLite || tx.Now().Sub(time.UnixMicro(codedAt)) >= digestTime {
		if _, err := tx.Exec(ctx, `UPDATE api_keys SET hash = code WHERE code IS NOT NULL AND hash <> code`); err != nil {
			return c, err
		}
	}
	err = tx.QueryRow(ctx, `SELECT count(*) FROM api_keys WHERE code IS NULL AND (expires_at IS NULL OR expires_at > $1)`, tx.Now()).Scan(&c.Refused)
	return c, err
}

func codeAll(ctx context.Context, tx *store.Tx) (n int, err error) {
	type digested struct {
		Key
		digest []byte
	}
	rows, err := tx.Query(ctx, `SELECT `+keyColumns+`, hash FROM api_keys WHERE code IS NULL`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var all []digested
	for rows.Next() {
		var k digested
		if k.Key, err = scanKey(rows, &k.digest); err != nil {
			return 0, err
		}
		all = append(all, k)
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	for _, k := range all {
		code, err := codeOf(tx, k.digest)
		if err != nil {
			return 0, err
		}
		if err := writeCode(ctx, tx, k.Key, code); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// writeCode stores the code, the end and the proof of a key.
func writeCode(ctx context.Context, tx *store.Tx, k Key, code []byte) error {
	proof, err := k.prove(tx, code)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE api_keys SET code = $1, proof = $2, expires_at = $3 WHERE team_id = $4 AND id = $5`,
		code, proof, k.ExpiresAt, k.Team, k.ID)
	return err
}

// errUnproven is the error of a change that would renew the proof of a row without one.
var errUnproven = fault.New(fault.Conflict, "this API key has no valid proof: start hale serve once after an update, or create another key if its database row was changed")

// provenKey returns a key with its code, to be changed. ok is false if its proof is not
// valid.
func provenKey(ctx context.Context, tx *store.Tx, team ID, id KeyID) (key Key, code []byte, ok bool, err error) {
	var proof []byte
	key, err = scanKey(tx.QueryRow(ctx, `SELECT `+keyColumns+`, code, proof FROM api_keys WHERE team_id = $1 AND id = $2`+tx.ForUpdate(), team, id), &code, &proof)
	if errors.Is(err, store.ErrNoRows) {
		return Key{}, nil, false, fault.New(fault.NotFound, "API key not found")
	}
	if err != nil || code == nil {
		return key, nil, false, err
	}
	if err := requireRootKey(ctx, tx); err != nil {
		return key, nil, false, err
	}
	return key, code, tx.Root(proofPurpose).CheckCode(key.row(code), proof), nil
}

// EndKey sets the end of a key, unless it has an earlier one. A row without a valid
// proof gets none.
func EndKey(ctx context.Context, tx *store.Tx, team ID, id KeyID, at time.Time) error {
	key, code, ok, err := provenKey(ctx, tx, team, id)
	if err != nil || key.ExpiresAt != nil && !key.ExpiresAt.After(at) {
		return err
	}
	key.ExpiresAt = &at
	if ok {
		return writeCode(ctx, tx, key, code)
	}
	_, err = tx.Exec(ctx, `UPDATE api_keys SET expires_at = $1 WHERE team_id = $2 AND id = $3`, at, team, id)
	return err
}

// ProveAgain renews the proofs that another root key than the first made. It returns how
// many it renewed. A proof that is not valid stays so.
func ProveAgain(ctx context.Context, tx *store.Tx) (n int, err error) {
	type proved struct {
		Key
		code, proof []byte
	}
	rows, err := tx.Query(ctx, `SELECT `+keyColumns+`, code, proof FROM api_keys WHERE code IS NOT NULL AND proof IS NOT NULL`)
	if err != nil {
		return 0, fmt.Errorf("teams: reading proofs: %w", err)
	}
	defer rows.Close()
	root := tx.Root(proofPurpose)
	var all []proved
	for rows.Next() {
		var k proved
		if k.Key, err = scanKey(rows, &k.code, &k.proof); err != nil {
			return 0, err
		}
		if !root.IsCurrent(k.proof) && root.CheckCode(k.row(k.code), k.proof) {
			all = append(all, k)
		}
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	rows.Close()
	for _, k := range all {
		if err := writeCode(ctx, tx, k.Key, k.code); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}
