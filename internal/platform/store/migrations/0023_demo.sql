-- +goose Up

-- Connections with synthetic data. A row stays after its connection ends, because its
-- user stays a demo user until the user is removed.
CREATE TABLE demo_connections (
	team_id   UUID NOT NULL,
	user_id   UUID NOT NULL,
	provider  TEXT NOT NULL, -- slug
	filled_to BIGINT, -- end of the generated data; NULL before the first run
	ends_at   BIGINT NOT NULL, -- when the user is removed
	PRIMARY KEY (team_id, user_id, provider)
);
CREATE INDEX demo_connections_by_end ON demo_connections (ends_at);
