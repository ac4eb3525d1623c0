-- +goose Up

-- Continuous queries, whose results are updated when data changes. A query itself never
-- changes. An archived query is no longer evaluated.
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

-- State of a query for one user. It is stale from the transaction that changes the user's
-- data until a run has processed that change.
CREATE TABLE continuous_query_states (
	team_id      UUID NOT NULL,
	user_id      UUID NOT NULL,
	query_id     UUID NOT NULL,
	changes      BIGINT NOT NULL, -- number of changes of the user's data
	runs         BIGINT NOT NULL,
	stale_from   BIGINT, -- earliest time of changed data; NULL if nothing is stale
	stale_to     BIGINT,
	scheduled_at BIGINT, -- time at which the due run was requested; NULL for none
	started_at   BIGINT, -- start of the latest run
	PRIMARY KEY (team_id, user_id, query_id)
);
-- postgres: begin
-- Every change updates a row. The page leaves room for its next version.
ALTER TABLE continuous_query_states SET (fillfactor = 70);
-- postgres: end

-- Results: the rows of one period, sealed for the user.
CREATE TABLE continuous_query_pages (
	team_id  UUID NOT NULL,
	user_id  UUID NOT NULL,
	query_id UUID NOT NULL,
	page     BIGINT NOT NULL, -- number of the period
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
