-- +goose Up

-- How a team orders its providers, for each type of data: the larger wins.
CREATE TABLE source_priorities (
	team_id   UUID NOT NULL,
	data_type TEXT NOT NULL, -- workouts, activity, sleep, body, timeseries
	provider  TEXT NOT NULL, -- slug
	priority  BIGINT NOT NULL,
	PRIMARY KEY (team_id, data_type, provider)
);

-- What was heard of each resource of a user from a provider: one row, written
-- in the transaction that stores the data.
CREATE TABLE resource_statistics (
	team_id       UUID NOT NULL,
	user_id       UUID NOT NULL,
	provider      TEXT NOT NULL,
	resource      TEXT NOT NULL, -- its name in events
	attempted_at  BIGINT NOT NULL, -- last batch that spoke of it
	stored        BOOLEAN NOT NULL, -- whether anything in that batch could be stored
	sent          BIGINT NOT NULL, -- events about its data
	oldest        BIGINT, -- data, not batches
	newest        BIGINT,
	history_since BIGINT, -- first batch of history
	history_until BIGINT, -- last one
	PRIMARY KEY (team_id, user_id, provider, resource)
);
-- postgres: begin
-- Every batch updates a row: leave room for its next version beside it.
ALTER TABLE resource_statistics SET (fillfactor = 70);
-- postgres: end

-- On how many days of its range a history that was announced has data.
ALTER TABLE history_announced ADD COLUMN days BIGINT;
