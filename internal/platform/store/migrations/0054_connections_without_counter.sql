-- +goose Up

-- sqlite: begin
-- Push batches are planned in the transaction that writes them, so nothing reads
-- the count of removed and paused connections.
DROP TRIGGER connections_removed;
DROP TRIGGER connections_paused;
ALTER TABLE instance DROP COLUMN partings;
-- sqlite: end
