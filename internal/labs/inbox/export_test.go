package inbox

import (
	"context"

	"github.com/google/uuid"

	"hale/internal/platform/store"
)

// RawOf reads the message of a report that has no other report.
func RawOf(ctx context.Context, tx *store.Tx, report uuid.UUID) ([]byte, error) {
	m, err := soleMessage(ctx, tx, report)
	if err != nil {
		return nil, err
	}
	return tx.Unseal(ctx, m.team, m.subject.UUID, m.place+m.id.String(), m.sealed)
}

// IdentityMismatch exposes identityMismatch.
var IdentityMismatch = identityMismatch
