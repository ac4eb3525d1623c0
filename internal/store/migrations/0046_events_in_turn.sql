-- +goose Up

-- The order in which events were written, whichever node did and whatever its
-- clock says: who waits for a lock takes its turn after the one who held it.
-- Numbers follow it. SQLite numbers while writing.
-- postgres: begin
CREATE SEQUENCE events_turn;
ALTER TABLE events ADD COLUMN turn BIGINT;
UPDATE events SET turn = n.turn FROM (
	SELECT u.id, nextval('events_turn') AS turn FROM (SELECT id FROM events WHERE seq IS NULL ORDER BY id) AS u) AS n
WHERE events.id = n.id;
ALTER TABLE events ALTER COLUMN turn SET DEFAULT nextval('events_turn');
DROP INDEX events_unnumbered;
CREATE INDEX events_unnumbered ON events (turn) WHERE seq IS NULL;
-- postgres: end
