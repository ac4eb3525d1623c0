-- +goose Up

-- The orders that no lab has yet, for the sandbox lab; see orders.ListUnplaced.
CREATE INDEX orders_unplaced ON orders (team_id, created_at, id) WHERE status IN ('ordered', 'awaiting_registration', 'registered');
