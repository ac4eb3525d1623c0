-- +goose Up

-- Some statements read the first or last row of an order or a record by id. SQLite has no
-- statistics: if another index has the order of ids, it reads that one, with all rows of
-- the team. So the index of the key also has the order.
DROP INDEX appointments_by_order;
CREATE INDEX appointments_by_order ON appointments (team_id, order_id, id);
DROP INDEX sandbox_bookings_by_order;
CREATE INDEX sandbox_bookings_by_order ON sandbox_bookings (team_id, order_id, id);
DROP INDEX summaries_by_record;
CREATE INDEX summaries_by_record ON summaries (user_id, record_id, id) WHERE record_id IS NOT NULL;

-- The sandbox lab reads the orders whose activate_by has come, and not those of later days.
DROP INDEX orders_unplaced;
CREATE INDEX orders_unplaced ON orders (team_id, activate_by, created_at, id) WHERE status IN ('ordered', 'awaiting_registration', 'registered');
