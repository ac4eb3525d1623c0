-- +goose Up

-- postgres: begin
-- A transaction that removes or pauses a connection waits for the pushes that were planned
-- with it. The deletion of its user does so too. See package connections.
-- +goose StatementBegin
CREATE FUNCTION connections_part() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(hashtextextended('partings:' || OLD.team_id::text, 0));
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER connections_removed AFTER DELETE ON connections FOR EACH ROW EXECUTE FUNCTION connections_part();
CREATE TRIGGER connections_paused AFTER UPDATE OF status ON connections FOR EACH ROW
	WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION connections_part();
-- postgres: end
