-- +goose Up

-- Number of connections created in each week. Weeks begin on Mondays, 00:00 UTC. Week 0
-- begins on 5 January 1970. A number is the sum of its slots, which let concurrent
-- transactions on PostgreSQL update different rows.
CREATE TABLE connection_counts (
	team_id UUID NOT NULL,
	week    BIGINT NOT NULL,
	slot    BIGINT NOT NULL,
	made    BIGINT NOT NULL,
	errored BIGINT NOT NULL,
	PRIMARY KEY (team_id, week, slot)
);
INSERT INTO connection_counts (team_id, week, slot, made, errored)
	SELECT team_id, (created_on - 345600000000) / 604800000000, 0, COUNT(*), COUNT(*) FILTER (WHERE status = 'error')
	FROM connections GROUP BY 1, 2;

-- Nothing reads connections by age any more.
DROP INDEX connections_by_age;

-- sqlite: begin
-- +goose StatementBegin
CREATE TRIGGER connections_count_made AFTER INSERT ON connections
BEGIN
	INSERT INTO connection_counts (team_id, week, slot, made, errored)
		VALUES (NEW.team_id, (NEW.created_on - 345600000000) / 604800000000, 0, 1, NEW.status = 'error')
		ON CONFLICT (team_id, week, slot) DO UPDATE SET made = made + excluded.made, errored = errored + excluded.errored;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER connections_count_removed AFTER DELETE ON connections
BEGIN
	UPDATE connection_counts SET made = made - 1, errored = errored - (OLD.status = 'error')
		WHERE team_id = OLD.team_id AND week = (OLD.created_on - 345600000000) / 604800000000 AND slot = 0;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER connections_count_status AFTER UPDATE OF status ON connections
WHEN (OLD.status = 'error') <> (NEW.status = 'error')
BEGIN
	UPDATE connection_counts SET errored = errored + (NEW.status = 'error') - (OLD.status = 'error')
		WHERE team_id = NEW.team_id AND week = (NEW.created_on - 345600000000) / 604800000000 AND slot = 0;
END;
-- +goose StatementEnd
-- sqlite: end

-- postgres: begin
-- +goose StatementBegin
CREATE FUNCTION connections_count(team UUID, person UUID, at BIGINT, more BIGINT, failing BIGINT) RETURNS void LANGUAGE sql AS $$
	INSERT INTO connection_counts AS c (team_id, week, slot, made, errored)
		VALUES (team, (at - 345600000000) / 604800000000, abs(hashtext(person::text)::bigint) % 16, more, failing)
		ON CONFLICT (team_id, week, slot) DO UPDATE SET made = c.made + excluded.made, errored = c.errored + excluded.errored
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION connections_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP IN ('UPDATE', 'DELETE') THEN
		PERFORM connections_count(OLD.team_id, OLD.user_id, OLD.created_on, -1, -(OLD.status = 'error')::int);
	END IF;
	IF TG_OP IN ('UPDATE', 'INSERT') THEN
		PERFORM connections_count(NEW.team_id, NEW.user_id, NEW.created_on, 1, (NEW.status = 'error')::int);
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER connections_count_rows AFTER INSERT OR DELETE ON connections FOR EACH ROW EXECUTE FUNCTION connections_counted();
CREATE TRIGGER connections_count_status AFTER UPDATE OF status ON connections FOR EACH ROW
	WHEN ((OLD.status = 'error') IS DISTINCT FROM (NEW.status = 'error')) EXECUTE FUNCTION connections_counted();
-- postgres: end
