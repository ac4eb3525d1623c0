package orders

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// People look for an order by the number that is in front of them. The control
// number, or requisition number, is the sample id, which is a column of the
// order. Other numbers of a lab, such as accession numbers, come with its reports.
// They are stored as digests with a key of the team: a plain hash of a short
// number could be guessed.

// longestNumber is the limit of a number, in characters.
const longestNumber = 64

// foldNumber prepares a number for comparison: upper case, without blanks and
// hyphens.
func foldNumber(number string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\t' {
			return -1
		}
		return r
	}, number))
}

func numberKeyPlace(team teams.ID) string { return "order_number_keys.key:" + team.String() }

// numberKey returns the team's key of digests. It creates the key in a writing
// transaction; a reading one returns store.ErrNoRows without a key.
func numberKey(ctx context.Context, tx *store.Tx, team teams.ID) ([]byte, error) {
	var sealed []byte
	err := tx.QueryRow(ctx, `SELECT key FROM order_number_keys WHERE team_id = $1`, team).Scan(&sealed)
	if errors.Is(err, store.ErrNoRows) && !tx.ReadOnly() {
		key := secrets.Bytes(sha256.Size)
		if sealed, err = tx.Seal(ctx, team.UUID(), uuid.Nil, numberKeyPlace(team), key); err != nil {
			return nil, err
		}
		n, err := tx.Exec(ctx, `INSERT INTO order_number_keys (team_id, key) VALUES ($1, $2) ON CONFLICT (team_id) DO NOTHING`, team, sealed)
		if err == nil && n == 0 { // another transaction created it
			err = store.ErrLostRace
		}
		return key, err
	}
	if err != nil {
		return nil, err
	}
	return tx.Unseal(ctx, team.UUID(), uuid.Nil, numberKeyPlace(team), sealed)
}

func numberDigest(key []byte, number string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(foldNumber(number)))
	return mac.Sum(nil)[:16]
}

// AddNumbers makes an order findable by numbers of its lab. Numbers that are
// known already, empty ones and the sample id change nothing.
func AddNumbers(ctx context.Context, tx *store.Tx, o *Order, numbers ...string) error {
	var some []string
	for _, n := range numbers {
		if n = foldNumber(n); n != "" && len(n) <= longestNumber && n != foldNumber(o.SampleID) && !slices.Contains(some, n) {
			some = append(some, n)
		}
	}
	if len(some) == 0 {
		return nil
	}
	key, err := numberKey(ctx, tx, o.Team)
	if err != nil {
		return fmt.Errorf("orders: the key of numbers: %w", err)
	}
	for _, n := range some {
		_, err := tx.Exec(ctx, `INSERT INTO order_numbers (team_id, digest, order_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, o.Team, numberDigest(key, n), o.ID)
		if err != nil {
			return fmt.Errorf("orders: storing a number of %s: %w", o.ID, err)
		}
	}
	return nil
}

// mostNumbered limits the orders that one number finds.
const mostNumbered = 100

// findByNumber returns the keys of the orders that a number names. The number may be a
// sample id, in the case as given or in upper case. It may also be another number
// of the lab.
func findByNumber(ctx context.Context, tx *store.Tx, team teams.ID, number string) ([]key, error) {
	if number = strings.TrimSpace(number); number == "" || len(number) > longestNumber {
		return nil, nil
	}
	found, err := readKeys(ctx, tx, `SELECT id, created_at FROM orders WHERE team_id = $1 AND sample_id IN ($2, $3) ORDER BY id DESC LIMIT $4`,
		team, number, strings.ToUpper(number), mostNumbered)
	if err != nil {
		return nil, err
	}
	secret, err := numberKey(ctx, tx, team)
	if errors.Is(err, store.ErrNoRows) {
		return found, nil
	}
	if err != nil {
		return nil, fmt.Errorf("orders: the key of numbers: %w", err)
	}
	others, err := readKeys(ctx, tx, `SELECT o.id, o.created_at FROM order_numbers n JOIN orders o ON o.team_id = n.team_id AND o.id = n.order_id
		WHERE n.team_id = $1 AND n.digest = $2 LIMIT $3`, team, numberDigest(secret, number), mostNumbered)
	return append(found, others...), err
}

func readKeys(ctx context.Context, tx *store.Tx, query string, args ...any) ([]key, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("orders: reading the keys of orders: %w", err)
	}
	defer rows.Close()
	var found []key
	for rows.Next() {
		var k key
		if err := rows.Scan(&k.id, &k.created); err != nil {
			return nil, fmt.Errorf("orders: reading the keys of orders: %w", err)
		}
		found = append(found, k)
	}
	return found, rows.Err()
}
