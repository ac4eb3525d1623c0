-- +goose Up

-- Priorities of a team's providers for each type of data. The larger number takes
-- precedence.
CREATE TABLE source_priorities (
	team_id   UUID NOT NULL,
	data_type TEXT NOT NULL, -- workouts, activity, sleep, body, timeseries
	provider  TEXT NOT NULL, -- slug
	priority  BIGINT NOT NULL,
	PRIMARY KEY (team_id, data_type, provider)
);

-- Statistics of each resource of a user from a provider. The transaction that stores the
-- data writes the row.
CREATE TABLE resource_statistics (
	team_id       UUID NOT NULL,
	user_id       UUID NOT NULL,
	provider      TEXT NOT NULL,
	resource      TEXT NOT NULL, -- its name in events
	attempted_at  BIGINT NOT NULL, -- last batch that contained it
	stored        BOOLEAN NOT NULL, -- whether anything in that batch could be stored
	sent          BIGINT NOT NULL, -- events about its data
	oldest        BIGINT, -- time of data, not of batches
	newest        BIGINT,
	history_since BIGINT, -- first batch of history
	history_until BIGINT, -- last batch of history
	PRIMARY KEY (team_id, user_id, provider, resource)
);
-- postgres: begin
-- Every batch updates a row. The page leaves room for its next version.
ALTER TABLE resource_statistics SET (fillfactor = 70);
-- postgres: end

-- Number of days with data in the range of an announced history.
ALTER TABLE history_announced ADD COLUMN days BIGINT;
