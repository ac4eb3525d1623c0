package tokens

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Lifetimes of sign-in tokens and link codes.
const (
	// SignInLife is the lifetime of a sign-in token, which a server passes straight
	// to its app.
	SignInLife = 10 * time.Minute
	// CodeLife is the default lifetime of a link code.
	CodeLife = time.Hour
	// MaxCodeLife is the longest lifetime of a link code.
	MaxCodeLife = 7 * 24 * time.Hour
)

const (
	signInPrefix = "si_"
	tokenLength  = 43 // base62 characters: 256 bits
	codeBytes    = 4
	region       = "us" // part of the wire format; a self-hosted service has no regions
)

// Kind is the kind of a sign-in, as stored. The caller of Exchange names it, because
// only link codes can be guessed and only their guesses are limited.
type Kind string

// The kinds.
const (
	SignInToken Kind = "token"
	LinkCode    Kind = "code"
)

// CreateSignIn creates a token that can be exchanged once for a session of the user.
//
// Reference 5.9.
func CreateSignIn(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (secrets.Text, error) {
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return "", err
	}
	token := secrets.Text(signInPrefix + secrets.Random(tokenLength))
	_, err := insertSignIn(ctx, tx, team, user, SignInToken, token, tx.Now().Add(SignInLife))
	return token, err
}

// Code is a link code: a sign-in that a person can type.
type Code struct {
	Text      secrets.Text
	ExpiresOn time.Time
}

// CreateCode creates a link code for the user. It can be exchanged once, before
// until. A nil until means CodeLife from now.
//
// Reference 6.9.
func CreateCode(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, until *time.Time) (Code, error) {
	end := tx.Now().Add(CodeLife)
	if until != nil {
		end = until.UTC().Truncate(time.Microsecond)
	}
	switch {
	case !end.After(tx.Now()):
		return Code{}, fault.New(fault.Invalid, "Value error, must be in the future").At("query", "expires_at").WithType("value_error")
	case end.Sub(tx.Now()) > MaxCodeLife:
		return Code{}, fault.New(fault.Invalid, "Value error, must be within seven days").At("query", "expires_at").WithType("value_error")
	}
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return Code{}, err
	}
	owner, err := teams.Get(ctx, tx, team)
	if err != nil {
		return Code{}, err
	}
	for { // the code may exist: one in four billion
		code := Code{Text: newCode(owner.Environment), ExpiresOn: end}
		if fresh, err := insertSignIn(ctx, tx, team, user, LinkCode, code.Text, end); err != nil || fresh {
			return code, err
		}
	}
}

func newCode(env teams.Environment) secrets.Text {
	prefix := "pk"
	if env == teams.Sandbox {
		prefix = "sk"
	}
	return secrets.Text(prefix + region + hex.EncodeToString(secrets.Bytes(codeBytes)))
}

// insertSignIn stores a sign-in. fresh is false if the same text exists.
func insertSignIn(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, kind Kind, text secrets.Text, end time.Time) (fresh bool, err error) {
	n, err := tx.Exec(ctx, `INSERT INTO sign_ins (secret_hash, team_id, user_id, kind, created_on, expires_on)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (secret_hash) DO NOTHING`,
		secrets.Hash(text.Reveal()), team, user, string(kind), tx.Now(), end)
	if err != nil {
		return false, fmt.Errorf("tokens: storing a sign-in: %w", err)
	}
	return n > 0, nil
}

// NormalizeCode returns a link code as stored. A person may type it with capitals
// and spaces.
func NormalizeCode(text string) secrets.Text {
	return secrets.Text(strings.ToLower(strings.ReplaceAll(text, " ", "")))
}
