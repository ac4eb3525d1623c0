-- +goose Up

-- Connections that are made of invented data. A row outlives its connection:
-- its user stays a demo user until the user is removed.
CREATE TABLE demo_connections (
	team_id   UUID NOT NULL,
	user_id   UUID NOT NULL,
	provider  TEXT NOT NULL, -- slug
	filled_to BIGINT, -- data was made up to here; NULL before the first time
	ends_at   BIGINT NOT NULL, -- when the user is removed
	PRIMARY KEY (team_id, user_id, provider)
);
CREATE INDEX demo_connections_by_end ON demo_connections (ends_at);
