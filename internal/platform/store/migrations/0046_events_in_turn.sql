-- +goose Up

-- The order in which all nodes wrote events, independent of their clocks. A transaction
-- that waits for a lock gets its turn after the holder of the lock. The sequencer numbers
-- events in this order. SQLite numbers them while writing.
-- postgres: begin
CREATE SEQUENCE events_turn;
ALTER TABLE events ADD COLUMN turn BIGINT;
UPDATE events SET turn = n.turn FROM (
	SELECT u.id, nextval('events_turn') AS turn FROM (SELECT id FROM events WHERE seq IS NULL ORDER BY age(xmin) DESC, id) AS u) AS n
WHERE events.id = n.id;
ALTER TABLE events ALTER COLUMN turn SET DEFAULT nextval('events_turn');
DROP INDEX events_unnumbered;
CREATE INDEX events_unnumbered ON events (turn) WHERE seq IS NULL;
CREATE INDEX events_unnumbered_of_team ON events (team_id, turn) WHERE seq IS NULL;
-- postgres: end
