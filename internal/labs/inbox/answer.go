package inbox

import (
	"context"
	"encoding/json"
	"fmt"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

var _ orders.Answers = (*Service)(nil)

// TakeAnswer keeps what a lab answered to an order, and does at once what its
// reports ask for. Whose they are is known, so they are sealed with that person's
// key from the beginning. An answer that is here already changes nothing.
func (s *Service) TakeAnswer(ctx context.Context, tx *store.Tx, o *orders.Order, m networks.Message) error {
	of := owner{o.Team.UUID(), o.User.UUID(), o.ID.UUID()}
	message := tx.NewUUID()
	kept, err := keep(ctx, tx, message, m, of)
	if err != nil || !kept {
		return err
	}
	for n, report := range m.Reports {
		a := Arrival{ID: tx.NewUUID(), Network: m.Network, Key: reportKey(m.Network, m.Key, int64(n)), ReceivedAt: tx.Now(), Report: report}
		if err := s.apply(ctx, tx, o, a); err != nil {
			return err
		}
		doc, err := json.Marshal(report)
		if err != nil {
			return fmt.Errorf("inbox: marshalling a report: %w", err)
		}
		body, err := tx.Seal(ctx, of.team, of.user, reportPlace+a.ID.String(), doc)
		if err != nil {
			return err
		}
		now := store.Micros(tx.Now())
		_, err = tx.Exec(ctx, `INSERT INTO inbox_reports (team_id, user_id, order_id, id, message_id, n, lane, state, received_at, handled_at, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 'applied', $8, $8, $9)`,
			of.team, of.user, of.order, a.ID, message, n, "order:"+o.ID.String(), now, body)
		if err != nil {
			return fmt.Errorf("inbox: storing a report: %w", err)
		}
	}
	return nil
}
