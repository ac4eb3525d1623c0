package users

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"time"

	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// CheckMethod is a way to check that the person at a new device is the user.
//
// Spec: Users, create_portal_url: "the user may be asked to verify identity by
// e-mail or SMS, for instance on a new device".
type CheckMethod string

// The check methods. The date of birth needs the team's consent
// (teams.Settings.PortalBirthDate).
const (
	CodeBySMS     CheckMethod = "sms"
	CodeByEmail   CheckMethod = "email"
	ByDateOfBirth CheckMethod = "birth_date"
)

// Limits of the checks. A guesser has 50 tries for a million codes. Wrong answers count
// for the person, over all links that have not expired, so that a holder of several
// links has no more tries.
const (
	CodeDigits        = 6
	CodeLifetime      = 10 * time.Minute
	codeEvery         = time.Minute          // one code per person
	codeTries         = 5                    // of one code
	maxCodes          = 10                   // of one link
	maxWrongCodes     = codeTries * maxCodes // of one person
	maxBirthDateTries = 5                    // of one person; then only a code works
)

// SentCode is the code that was sent last for a link.
type SentCode struct {
	Method CheckMethod
	SentOn time.Time

	unused bool
	tries  int64
}

// Usable reports whether the code can still be entered.
func (c *SentCode) Usable(now time.Time) bool {
	return c != nil && c.unused && c.tries < codeTries && now.Before(c.SentOn.Add(CodeLifetime))
}

// NewCode is a code to send.
type NewCode struct {
	Digits    secrets.Text
	ExpiresOn time.Time
}

// CodeWaitError refuses a code because the person got another one within the last minute.
type CodeWaitError struct{ Wait time.Duration }

func (e *CodeWaitError) Error() string { return "users: a portal code was sent within the last minute" }

// Kind returns fault.TooMany.
func (e *CodeWaitError) Kind() fault.Kind { return fault.TooMany }

// RetryAfter returns the seconds after which a code can be sent.
func (e *CodeWaitError) RetryAfter() int { return int((e.Wait + time.Second - 1) / time.Second) }

// ErrNoMoreCodes refuses a code because the link has had maxCodes of them, or because the
// person had maxWrongCodes wrong answers.
var ErrNoMoreCodes = fault.New(fault.TooMany, "This link gets no more codes")

// CreateCode makes the code of a link and replaces the one before. The caller then reads
// the user's contact data and sends the code, in the same transaction and by the given
// method.
func CreateCode(ctx context.Context, tx *store.Tx, token secrets.Text, method CheckMethod) (NewCode, error) {
	link, err := FindPortalLink(ctx, tx, token)
	if err != nil {
		return NewCode{}, err
	}
	if err := tx.Lock(ctx, codeLock(link.User)); err != nil {
		return NewCode{}, err
	}
	var last *time.Time
	err = tx.QueryRow(ctx, `SELECT MAX(code_sent_on) FROM portal_links WHERE team_id = $1 AND user_id = $2`, link.Team, link.User).Scan(store.ScanNullTime(&last))
	if err != nil {
		return NewCode{}, fmt.Errorf("users: looking for the last portal code: %w", err)
	}
	if last != nil {
		if wait := last.Add(codeEvery).Sub(tx.Now()); wait > 0 {
			return NewCode{}, &CodeWaitError{wait}
		}
	}
	if wrong, err := wrongAnswers(ctx, tx, link, "wrong_codes"); err != nil {
		return NewCode{}, err
	} else if wrong >= maxWrongCodes {
		return NewCode{}, ErrNoMoreCodes
	}
	code := NewCode{Digits: randomDigits(), ExpiresOn: tx.Now().Add(CodeLifetime)}
	n, err := tx.Exec(ctx, `UPDATE portal_links SET code_hash = $2, code_method = $3, code_sent_on = $4, code_tries = 0, codes_sent = codes_sent + 1
		WHERE token_hash = $1 AND codes_sent < $5`, secrets.Hash(token.Reveal()), codeHash(token, code.Digits), string(method), tx.Now(), maxCodes)
	if err != nil {
		return NewCode{}, fmt.Errorf("users: storing a portal code: %w", err)
	}
	if n == 0 {
		return NewCode{}, ErrNoMoreCodes
	}
	return code, nil
}

// wrongAnswers adds up a column of the person's links that have not expired. A team that
// ends the person's access begins the count again.
func wrongAnswers(ctx context.Context, tx *store.Tx, link PortalLink, column string) (n int64, err error) {
	err = tx.QueryRow(ctx, `SELECT COALESCE(SUM(`+column+`), 0) FROM portal_links WHERE team_id = $1 AND user_id = $2 AND expires_on > $3`,
		link.Team, link.User, tx.Now()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("users: counting wrong answers: %w", err)
	}
	return n, nil
}

// endCodes ends the open codes of a user that were sent to contact data which is not the
// user's any more. It waits for a code that another transaction creates.
func endCodes(ctx context.Context, tx *store.Tx, team teams.ID, user ID, before, now Info) error {
	for method, changed := range map[CheckMethod]bool{CodeBySMS: before.PhoneNumber != now.PhoneNumber, CodeByEmail: before.Email != now.Email} {
		if !changed {
			continue
		}
		if err := tx.Lock(ctx, codeLock(user)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE portal_links SET code_hash = NULL WHERE team_id = $1 AND user_id = $2 AND code_method = $3`, team, user, string(method))
		if err != nil {
			return fmt.Errorf("users: ending the portal codes of %s: %w", user, err)
		}
	}
	return nil
}

func codeLock(user ID) string { return "portal_code:" + user.String() }

func randomDigits() secrets.Text {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(CodeDigits), nil)
	n, err := rand.Int(rand.Reader, limit)
	if err != nil {
		panic("users: no randomness: " + err.Error())
	}
	return secrets.Text(fmt.Sprintf("%0*d", CodeDigits, n))
}

// codeHash returns the hash of a code, keyed by the link's token. The database contains
// only the hash of the token, so a copy of the database does not help to guess a code.
func codeHash(token, digits secrets.Text) []byte {
	sum := hmac.New(sha256.New, []byte(token.Reveal()))
	sum.Write([]byte("portal code:" + digits.Reveal()))
	return sum.Sum(nil)
}

// Proof is the answer of a person at a new device: the code or the date of
// birth. The zero Proof has neither.
type Proof struct {
	Code      secrets.Text
	BirthDate *civil.Date
}

// Refusal is the reason why a link did not open.
type Refusal string

// The refusals. Each wrong answer is counted in the transaction that refuses it.
const (
	NeedsCheck     Refusal = "needs_check" // no answer that the team accepts
	WrongCode      Refusal = "wrong_code"
	CodeOver       Refusal = "code_over" // expired, used, tried too often, or none was sent
	WrongBirthDate Refusal = "wrong_birth_date"
	BirthDateOver  Refusal = "birth_date_over" // the person's tries are used up
)

// KnowsDevice reports whether the device needs no check: the link is a Launch
// link, or the device passed the check of this link before.
func KnowsDevice(ctx context.Context, tx *store.Tx, link PortalLink, device secrets.Text) (bool, error) {
	if link.Context != Communications {
		return true, nil
	}
	sealed, err := base64.RawURLEncoding.DecodeString(device.Reveal())
	if err != nil || len(sealed) == 0 {
		return false, nil
	}
	_, err = tx.Unseal(ctx, link.Team.UUID(), link.User.UUID(), devicePlace(link.Token), sealed)
	if errors.Is(err, secrets.ErrSealed) || errors.Is(err, store.ErrNoKey) {
		return false, nil
	}
	return err == nil, err
}

// passDevice returns the secret by which KnowsDevice recognizes a device. It is
// an empty text sealed for the link with the user's key. It needs no row and no
// key of its own, works on every node, and ends with the link or the user.
func passDevice(ctx context.Context, tx *store.Tx, link PortalLink) (secrets.Text, error) {
	sealed, err := tx.Seal(ctx, link.Team.UUID(), link.User.UUID(), devicePlace(link.Token), nil)
	return secrets.Text(base64.RawURLEncoding.EncodeToString(sealed)), err
}

func devicePlace(token secrets.Text) string {
	return "portal_links.device:" + hex.EncodeToString(secrets.Hash(token.Reveal()))
}

// checkProof returns the refusal, or "" if the proof is valid, and the remaining tries.
func checkProof(ctx context.Context, tx *store.Tx, link PortalLink, proof Proof) (refusal Refusal, left int64, err error) {
	if proof.Code != "" {
		return checkCode(ctx, tx, link, proof.Code)
	}
	if proof.BirthDate == nil {
		return NeedsCheck, 0, nil
	}
	team, err := teams.Get(ctx, tx, link.Team)
	if err != nil {
		return "", 0, err
	}
	if !team.Settings.PortalBirthDate {
		return NeedsCheck, 0, nil
	}
	return checkBirthDate(ctx, tx, link, *proof.BirthDate)
}

// checkCode counts the try before it compares, so that simultaneous guesses
// share one limit. A right code is used up, and takes its own try back.
func checkCode(ctx context.Context, tx *store.Tx, link PortalLink, digits secrets.Text) (refusal Refusal, left int64, err error) {
	var stored []byte
	var tries int64
	token := link.Token
	if err := tx.Lock(ctx, codeLock(link.User)); err != nil {
		return "", 0, err
	}
	wrong, err := wrongAnswers(ctx, tx, link, "wrong_codes")
	if err != nil {
		return "", 0, err
	}
	if wrong >= maxWrongCodes {
		return CodeOver, 0, nil
	}
	err = tx.QueryRow(ctx, `UPDATE portal_links SET code_tries = code_tries + 1, wrong_codes = wrong_codes + 1
		WHERE token_hash = $1 AND code_hash IS NOT NULL AND code_tries < $2 AND code_sent_on > $3 RETURNING code_hash, code_tries`,
		secrets.Hash(token.Reveal()), codeTries, tx.Now().Add(-CodeLifetime)).Scan(&stored, &tries)
	if errors.Is(err, store.ErrNoRows) {
		return CodeOver, 0, nil
	}
	if err != nil {
		return "", 0, fmt.Errorf("users: counting a try of a portal code: %w", err)
	}
	if !hmac.Equal(codeHash(token, digits), stored) {
		return WrongCode, codeTries - tries, nil
	}
	_, err = tx.Exec(ctx, `UPDATE portal_links SET code_hash = NULL, wrong_codes = wrong_codes - 1 WHERE token_hash = $1`, secrets.Hash(token.Reveal()))
	if err != nil {
		return "", 0, fmt.Errorf("users: using a portal code: %w", err)
	}
	return "", 0, nil
}

// BirthDateUsedUp reports whether the person's tries of the date of birth are used up.
func BirthDateUsedUp(ctx context.Context, tx *store.Tx, link PortalLink) (bool, error) {
	tries, err := wrongAnswers(ctx, tx, link, "tries")
	return tries >= maxBirthDateTries, err
}

// checkBirthDate counts like checkCode, over all links of the person. A right date
// takes its own try back.
func checkBirthDate(ctx context.Context, tx *store.Tx, link PortalLink, date civil.Date) (refusal Refusal, left int64, err error) {
	info, err := LatestInfo(ctx, tx, link.Team, link.User)
	if fault.Is(err, fault.NotFound) {
		return "", 0, ErrLinkGone
	}
	if err != nil {
		return "", 0, err
	}
	if err := tx.Lock(ctx, codeLock(link.User)); err != nil {
		return "", 0, err
	}
	tries, err := wrongAnswers(ctx, tx, link, "tries")
	if err != nil {
		return "", 0, err
	}
	if tries++; tries > maxBirthDateTries {
		return BirthDateOver, 0, nil
	}
	key := secrets.Hash(link.Token.Reveal())
	n, err := tx.Exec(ctx, `UPDATE portal_links SET tries = tries + 1 WHERE token_hash = $1`, key)
	if err != nil {
		return "", 0, fmt.Errorf("users: counting a try of a date of birth: %w", err)
	}
	if n == 0 { // the link was used or ended meanwhile
		return "", 0, ErrLinkGone
	}
	if subtle.ConstantTimeCompare([]byte(date.String()), []byte(info.BirthDate.String())) == 0 {
		return WrongBirthDate, maxBirthDateTries - tries, nil
	}
	if _, err := tx.Exec(ctx, `UPDATE portal_links SET tries = tries - 1 WHERE token_hash = $1`, key); err != nil {
		return "", 0, fmt.Errorf("users: counting a try of a date of birth: %w", err)
	}
	return "", 0, nil
}
