package users

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const columns = `team_id, user_id, block, client_user_id, created_on, deleted_at,
	time_zone, time_zone_at, birth_date, birth_date_at, ingestion_start, ingestion_end, info_rev`

type scanner interface{ Scan(dest ...any) error }

// row is a user as stored, with the birth date sealed.
type row struct {
	User
	deletedAt   *time.Time
	zone        *string
	zoneAt      *time.Time
	birthDate   []byte
	birthDateAt *time.Time
}

func scan(from scanner) (row, error) {
	var r row
	return r, from.Scan(
		&r.Team, &r.ID, &r.block, &r.ClientUserID, store.ScanTime(&r.CreatedOn), store.ScanNullTime(&r.deletedAt),
		&r.zone, store.ScanNullTime(&r.zoneAt), &r.birthDate, store.ScanNullTime(&r.birthDateAt),
		nullDate{&r.IngestionStart},
		nullDate{&r.IngestionEnd},
		&r.infoRev,
	)
}

// open unseals the birth date. It runs queries, so no rows may be open.
func (r row) open(ctx context.Context, tx *store.Tx) (User, error) {
	if r.zone != nil && r.zoneAt != nil {
		r.TimeZone = &TimeZone{*r.zone, Manual, *r.zoneAt}
	}
	if r.birthDate == nil || r.birthDateAt == nil {
		return r.User, nil
	}
	plain, err := tx.Unseal(ctx, r.Team.UUID(), r.ID.UUID(), birthDatePlace(r.ID), r.birthDate)
	if err != nil {
		return User{}, err
	}
	day, err := civil.ParseDate(string(plain))
	if err != nil {
		return User{}, fmt.Errorf("users: birth date of %s: %w", r.ID, err)
	}
	r.BirthDate = &BirthDate{day, Manual, *r.birthDateAt}
	return r.User, nil
}

func birthDatePlace(id ID) string { return "users.birth_date:" + id.String() }

type nullDate struct{ d **civil.Date }

func (n nullDate) Scan(src any) error {
	*n.d = nil
	if src == nil {
		return nil
	}
	var day civil.Date
	if err := day.Scan(src); err != nil {
		return err
	}
	*n.d = &day
	return nil
}

// find reads a user in any state. The time is that of the deletion; nil for none.
func find(ctx context.Context, tx *store.Tx, team teams.ID, id ID) (User, *time.Time, error) {
	r, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM users WHERE team_id = $1 AND user_id = $2`, team, id))
	if err != nil || r.deletedAt != nil {
		return r.User, r.deletedAt, err
	}
	user, err := r.open(ctx, tx)
	return user, nil, err
}

func findByClient(ctx context.Context, tx *store.Tx, team teams.ID, clientUserID string) (User, error) {
	r, err := scan(tx.QueryRow(ctx, `SELECT `+columns+` FROM users
		WHERE team_id = $1 AND client_user_id = $2 AND deleted_at IS NULL`, team, clientUserID))
	if err != nil {
		return User{}, err
	}
	return r.open(ctx, tx)
}

// queryUsers runs a query and opens its users.
func queryUsers(ctx context.Context, tx *store.Tx, query string, args ...any) ([]User, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []row
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	all := make([]User, len(found))
	for i, r := range found {
		if all[i], err = r.open(ctx, tx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// insert stores a new user in the newest block. It returns store.ErrNoRows if the
// client_user_id is taken.
func insert(ctx context.Context, tx *store.Tx, user *User) error {
	birthDate, err := user.sealBirthDate(ctx, tx)
	if err != nil {
		return err
	}
	zone, zoneAt, birthDateAt := user.fallbackColumns()
	return tx.QueryRow(ctx, `INSERT INTO users (`+columns+`, info_version)
		VALUES ($1, $2, `+fillingBlock+`, $3, $4, NULL, $5, $6, $7, $8, $9, $10, 0, 0)
		ON CONFLICT (team_id, client_user_id) WHERE deleted_at IS NULL DO NOTHING RETURNING block`,
		user.Team, user.ID, user.ClientUserID, user.CreatedOn, zone, zoneAt, birthDate, birthDateAt,
		user.IngestionStart, user.IngestionEnd).Scan(&user.block)
}

// lockUser, renameUser and saveUser write no index of users that they need not write. The
// pages of an index are in memory for a small team, and not for a large one.
const (
	lockUser = `UPDATE users SET info_rev = info_rev WHERE team_id = $1 AND user_id = $2 AND deleted_at IS NULL`

	renameUser = `UPDATE users SET client_user_id = $3
		WHERE team_id = $1 AND user_id = $2 AND NOT EXISTS (SELECT 1 FROM users o
			WHERE o.team_id = $1 AND o.client_user_id = $3 AND o.deleted_at IS NULL AND o.user_id <> $2)`

	saveUser = `UPDATE users SET time_zone = $3, time_zone_at = $4,
		birth_date = $5, birth_date_at = $6, ingestion_start = $7, ingestion_end = $8
		WHERE team_id = $1 AND user_id = $2`
)

// lock makes other changes of the user wait until the transaction ends.
func lock(ctx context.Context, tx *store.Tx, team teams.ID, id ID) error {
	n, err := tx.Exec(ctx, lockUser, team, id)
	if err != nil {
		return fmt.Errorf("users: locking %s: %w", id, err)
	}
	if n == 0 {
		return absentError(ctx, tx, team, id, "User is scheduled for deletion")
	}
	return nil
}

// save writes the changeable columns of a locked user.
func save(ctx context.Context, tx *store.Tx, user, before *User) error {
	if user.ClientUserID != before.ClientUserID {
		n, err := tx.Exec(ctx, renameUser, user.Team, user.ID, user.ClientUserID)
		switch {
		case store.IsUnique(err), err == nil && n == 0: // a concurrent transaction can still take the name
			return conflictError()
		case err != nil:
			return fmt.Errorf("users: renaming %s: %w", user.ID, err)
		}
	}
	birthDate, err := user.sealBirthDate(ctx, tx)
	if err != nil {
		return err
	}
	zone, zoneAt, birthDateAt := user.fallbackColumns()
	_, err = tx.Exec(ctx, saveUser, user.Team, user.ID, zone, zoneAt, birthDate, birthDateAt, user.IngestionStart, user.IngestionEnd)
	if err != nil {
		return fmt.Errorf("users: changing %s: %w", user.ID, err)
	}
	return nil
}

func (u *User) sealBirthDate(ctx context.Context, tx *store.Tx) ([]byte, error) {
	if u.BirthDate == nil {
		return nil, nil
	}
	return tx.Seal(ctx, u.Team.UUID(), u.ID.UUID(), birthDatePlace(u.ID), []byte(u.BirthDate.Value.String()))
}

func (u *User) fallbackColumns() (zone sql.NullString, zoneAt, birthDateAt *time.Time) {
	if u.TimeZone != nil {
		zone, zoneAt = sql.NullString{String: u.TimeZone.Name, Valid: true}, &u.TimeZone.UpdatedAt
	}
	if u.BirthDate != nil {
		birthDateAt = &u.BirthDate.UpdatedAt
	}
	return zone, zoneAt, birthDateAt
}
