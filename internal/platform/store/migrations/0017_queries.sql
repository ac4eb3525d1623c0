-- +goose Up

-- Queries whose results are kept up to date. What is asked never changes; a
-- query that is archived is not evaluated any more.
CREATE TABLE continuous_queries (
	team_id     UUID NOT NULL,
	id          UUID NOT NULL,
	slug        TEXT NOT NULL,
	title       TEXT NOT NULL,
	status      TEXT NOT NULL CHECK (status IN ('active', 'archived')),
	query       TEXT NOT NULL, -- JSON
	config      TEXT NOT NULL, -- JSON
	minimum_gap BIGINT, -- seconds between two runs for one user; NULL means none
	data_events BOOLEAN NOT NULL, -- whether changes are announced
	created_at  BIGINT NOT NULL,
	updated_at  BIGINT NOT NULL,
	PRIMARY KEY (team_id, id)
);
CREATE UNIQUE INDEX continuous_queries_by_slug ON continuous_queries (team_id, slug) WHERE status = 'active';

-- How a query stands for one user. It is stale from the transaction that
-- changes the user's data until a run has looked at that change.
CREATE TABLE continuous_query_states (
	team_id      UUID NOT NULL,
	user_id      UUID NOT NULL,
	query_id     UUID NOT NULL,
	changes      BIGINT NOT NULL, -- of the user's data so far
	runs         BIGINT NOT NULL,
	stale_from   BIGINT, -- the time that changed data is about; NULL when nothing is stale
	stale_to     BIGINT,
	scheduled_at BIGINT, -- when the run that is due was asked for; NULL for none
	started_at   BIGINT, -- of the latest run
	PRIMARY KEY (team_id, user_id, query_id)
);
-- postgres: begin
-- Every change updates a row: leave room for its next version beside it.
ALTER TABLE continuous_query_states SET (fillfactor = 70);
-- postgres: end

-- Results: the rows of one stretch of time, sealed for the user.
CREATE TABLE continuous_query_pages (
	team_id  UUID NOT NULL,
	user_id  UUID NOT NULL,
	query_id UUID NOT NULL,
	page     BIGINT NOT NULL, -- number of the stretch
	n        BIGINT NOT NULL, -- rows
	data     BYTEA NOT NULL,
	PRIMARY KEY (team_id, user_id, query_id, page)
);

-- Runs that ended.
CREATE TABLE continuous_query_tasks (
	team_id      UUID NOT NULL,
	user_id      UUID NOT NULL,
	query_id     UUID NOT NULL,
	id           UUID NOT NULL,
	status       TEXT NOT NULL CHECK (status IN ('completed', 'error', 'skipped')),
	scheduled_at BIGINT NOT NULL,
	started_at   BIGINT NOT NULL,
	ended_at     BIGINT NOT NULL,
	error        TEXT NOT NULL, -- a sentence without personal data
	PRIMARY KEY (team_id, user_id, query_id, id)
);
