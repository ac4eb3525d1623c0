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

// How long the ways in are open.
const (
	// SignInLife is that of a sign-in token, which goes from a server straight
	// to its app.
	SignInLife = 10 * time.Minute
	// CodeLife is that of a link code, unless its maker says otherwise.
	CodeLife = time.Hour
	// LongestCodeLife bounds what its maker may say.
	LongestCodeLife = 7 * 24 * time.Hour
)

const (
	signInPrefix = "si_"
	tokenLength  = 43 // base62 characters: 256 bits
	codeBytes    = 4
	region       = "us" // the wire format wants one; a self-hosted service has none
)

// Kind is a kind of way in, as stored. Whoever offers a text says which it is:
// codes are few enough to guess, and only guesses at them are rationed.
type Kind string

// The two ways in.
const (
	SignInToken Kind = "token"
	LinkCode    Kind = "code"
)

// CreateSignIn makes a token that can be exchanged once for a session of the
// user.
//
// Reference 5.9.
func CreateSignIn(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (secrets.Text, error) {
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return "", err
	}
	token := secrets.Text(signInPrefix + secrets.Random(tokenLength))
	_, err := addSignIn(ctx, tx, team, user, SignInToken, token, tx.Now().Add(SignInLife))
	return token, err
}

// Code is a link code: a sign-in that a person can type.
type Code struct {
	Text      secrets.Text
	ExpiresOn time.Time
}

// CreateCode makes a link code for the user, good for one exchange until the
// given moment; CodeLife from now when that is nil.
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
	case end.Sub(tx.Now()) > LongestCodeLife:
		return Code{}, fault.New(fault.Invalid, "Value error, must be within seven days").At("query", "expires_at").WithType("value_error")
	}
	if err := users.Exists(ctx, tx, team, user); err != nil {
		return Code{}, err
	}
	owner, err := teams.Get(ctx, tx, team)
	if err != nil {
		return Code{}, err
	}
	for { // a code may be open already, of whichever team: one in four billion
		code := Code{Text: newCode(owner.Environment), ExpiresOn: end}
		if fresh, err := addSignIn(ctx, tx, team, user, LinkCode, code.Text, end); err != nil || fresh {
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

// addSignIn stores a way in; fresh is false when the same text is open already.
func addSignIn(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID, kind Kind, text secrets.Text, end time.Time) (fresh bool, err error) {
	n, err := tx.Exec(ctx, `INSERT INTO sign_ins (secret_hash, team_id, user_id, kind, created_on, expires_on)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (secret_hash) DO NOTHING`,
		secrets.Hash(text.Reveal()), team, user, string(kind), tx.Now(), end)
	if err != nil {
		return false, fmt.Errorf("tokens: storing a sign-in: %w", err)
	}
	return n > 0, nil
}

// TypedCode is a link code as a person may have typed it: capitals and spaces
// make no difference.
func TypedCode(text string) secrets.Text {
	return secrets.Text(strings.ToLower(strings.ReplaceAll(text, " ", "")))
}
