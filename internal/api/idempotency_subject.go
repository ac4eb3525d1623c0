package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A kept answer about a person is sealed with that person's key and removed
// with everything else of theirs: it is as personal as what it answers about.

// subjectOf is whom an answer is about, with whose key it is kept: a user, or a
// result that is not anybody's yet. It is uuid.Nil for what is the team's own,
// and where only the path of the request says it (userInPath).
func subjectOf(body any) uuid.UUID {
	switch b := body.(type) {
	case userBody:
		return b.UserID.UUID()
	case orderBody:
		return b.UserID.UUID()
	case postOrderBody:
		return b.Order.UserID.UUID()
	case unmatchedBody:
		if user := b.ResolvedUserID.Value; user != nil {
			return *user
		}
		return b.ID.UUID()
	case renormaliseBody:
		if b.UserID != nil {
			return b.UserID.UUID()
		}
	case linkCodeBody:
		return b.user.UUID()
	case connectedBody:
		return b.user.UUID()
	case demoBody:
		return b.user.UUID()
	}
	return uuid.Nil
}

// userInPath is the user under whose path an operation stands.
func userInPath(ctx huma.Context) uuid.UUID {
	id, err := ids.Parse[users.User](ctx.Param("user_id"))
	if err != nil {
		return uuid.Nil // validation refuses it
	}
	return id.UUID()
}

// keyOf is with whose key an answer is sealed. A refusal names fields and holds
// nothing of a person, who may not even exist; the team's key will do.
func (at *attempt) keyOf(rec *answerBuffer) uuid.UUID {
	if rec.status >= http.StatusBadRequest {
		return uuid.Nil
	}
	return at.subject
}

// stored is a subject as a statement takes it: NULL for nobody.
func stored(subject uuid.UUID) any {
	if subject == uuid.Nil {
		return nil
	}
	return subject
}

// UserRecords returns the rows of users in this package.
func UserRecords() []users.Records {
	return []users.Records{{Name: "idempotency_keys", Erase: eraseAnswers}}
}

// eraseAnswers removes what was answered about a user.
func eraseAnswers(ctx context.Context, tx *store.Tx, team teams.ID, user users.ID) (more bool, err error) {
	_, err = tx.Exec(ctx, `DELETE FROM idempotency_keys WHERE team_id = $1 AND subject_id = $2`, team, user)
	return false, err
}
