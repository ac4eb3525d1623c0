-- +goose Up

-- Processes that share this database. A row that a node claimed is free again when
-- the node's row is deleted or has expired.
CREATE TABLE nodes (
	id         UUID NOT NULL PRIMARY KEY,
	until      BIGINT NOT NULL,
	started_at BIGINT NOT NULL
);

-- Background jobs. A job without a team has the zero team.
CREATE TABLE jobs (
	team_id         UUID NOT NULL,
	id              UUID NOT NULL,
	kind            TEXT NOT NULL,
	key             TEXT NOT NULL, -- unique among the live jobs of a kind; empty for none
	args            TEXT NOT NULL, -- JSON; ids and settings, never personal data
	status          TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'canceled')),
	run_at          BIGINT NOT NULL,
	attempts        BIGINT NOT NULL,
	max_attempts    BIGINT NOT NULL,
	again           BOOLEAN NOT NULL, -- requested again while it was running
	cancel          BOOLEAN NOT NULL, -- cancellation requested while it was running
	node            UUID,
	progress_done   BIGINT NOT NULL,
	progress_total  BIGINT NOT NULL,
	progress_note   TEXT NOT NULL,
	error           TEXT NOT NULL,
	created_at      BIGINT NOT NULL,
	started_at      BIGINT,
	finished_at     BIGINT,
	PRIMARY KEY (team_id, id)
);
CREATE UNIQUE INDEX jobs_by_key ON jobs (team_id, kind, key) WHERE key <> '' AND status IN ('queued', 'running');
CREATE INDEX jobs_due ON jobs (kind, run_at) WHERE status = 'queued';
CREATE INDEX jobs_running ON jobs (kind) WHERE status = 'running';
CREATE INDEX jobs_ended ON jobs (finished_at) WHERE finished_at IS NOT NULL;

-- All announced events, in the order of each team. seq has no gaps. It is empty only
-- between a commit and its numbering (PostgreSQL).
CREATE TABLE events (
	team_id    UUID NOT NULL,
	id         UUID NOT NULL, -- version 7; msg_… outside
	seq        BIGINT,
	user_id    UUID,
	type       TEXT NOT NULL,
	size       BIGINT NOT NULL, -- bytes of the envelope
	created_at BIGINT NOT NULL,
	body       BYTEA NOT NULL, -- the envelope, sealed with the user's key
	PRIMARY KEY (id, team_id) -- id first: see the note on keys below
);
-- sqlite: begin
CREATE UNIQUE INDEX events_by_seq ON events (team_id, seq);
-- sqlite: end
-- postgres: begin
CREATE UNIQUE INDEX events_by_seq ON events (team_id, seq) WHERE seq IS NOT NULL;
CREATE INDEX events_unnumbered ON events (id) WHERE seq IS NULL;
-- postgres: end

-- Endpoints to which a team's events are sent.
CREATE TABLE webhook_endpoints (
	team_id          UUID NOT NULL REFERENCES teams (id),
	id               UUID NOT NULL, -- ep_… outside
	description      TEXT NOT NULL,
	state            TEXT NOT NULL CHECK (state IN ('on', 'off', 'auto_off')),
	reason           TEXT NOT NULL, -- reason of auto_off
	filtered         BOOLEAN NOT NULL, -- only the types in webhook_filters
	rate_limit       BIGINT, -- posts per second
	target           BIGINT NOT NULL, -- current row of webhook_targets
	revision         BIGINT NOT NULL, -- counts every change
	first_failure_at BIGINT,
	failing_since    BIGINT,
	last_success_at  BIGINT,
	created_at       BIGINT NOT NULL,
	updated_at       BIGINT NOT NULL,
	deleted_at       BIGINT,
	PRIMARY KEY (team_id, id)
);

-- Versions of the URL and custom headers of an endpoint. Attempts refer to them.
CREATE TABLE webhook_targets (
	team_id     UUID NOT NULL,
	endpoint_id UUID NOT NULL,
	number      BIGINT NOT NULL,
	url         BYTEA NOT NULL, -- sealed
	headers     BYTEA NOT NULL, -- sealed JSON object
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (team_id, endpoint_id, number)
);

CREATE TABLE webhook_filters (
	team_id     UUID NOT NULL,
	endpoint_id UUID NOT NULL,
	type        TEXT NOT NULL,
-- postgres: begin
	PRIMARY KEY (team_id, endpoint_id, type)
);
-- postgres: end
-- sqlite: begin
	PRIMARY KEY (team_id, endpoint_id, type)
) STRICT, WITHOUT ROWID;
-- sqlite: end

CREATE TABLE webhook_secrets (
	team_id     UUID NOT NULL,
	endpoint_id UUID NOT NULL,
	id          UUID NOT NULL, -- version 7, so newer is greater
	secret      BYTEA NOT NULL, -- sealed
	created_at  BIGINT NOT NULL,
	expires_at  BIGINT, -- empty for the current one
	PRIMARY KEY (team_id, endpoint_id, id)
);

-- One row for each event and endpoint that listens to its type. The transaction of the
-- event writes it.
--
-- The key begins with the event, so that a list of event ids uses only this index. With
-- (team, endpoint, event), PostgreSQL without statistics reads all rows of the endpoint.
CREATE TABLE webhook_deliveries (
	team_id     UUID NOT NULL,
	endpoint_id UUID NOT NULL,
	event_id    UUID NOT NULL,
	state       TEXT NOT NULL CHECK (state IN ('pending', 'sent', 'failed', 'held')),
	lane        BIGINT NOT NULL, -- 0 first attempt, 1 retry, 2 replay
	due_at      BIGINT NOT NULL,
	attempts    BIGINT NOT NULL, -- all attempts
	tries       BIGINT NOT NULL, -- attempts of the current round of the schedule
	code        BIGINT, -- last answer
	ended_at    BIGINT,
	node        UUID, -- the node that claimed it (PostgreSQL)
-- postgres: begin
	PRIMARY KEY (event_id, endpoint_id, team_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
-- postgres: end
-- sqlite: begin
	PRIMARY KEY (event_id, endpoint_id, team_id)
) STRICT, WITHOUT ROWID;
-- sqlite: end
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (team_id, endpoint_id, lane, due_at, event_id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_undelivered ON webhook_deliveries (team_id, endpoint_id, state, event_id) WHERE state IN ('failed', 'held');

-- Attempts and their answers. n has no gaps, so that a missing row is visible.
CREATE TABLE webhook_attempts (
	team_id     UUID NOT NULL,
	endpoint_id UUID NOT NULL,
	event_id    UUID NOT NULL,
	n           BIGINT NOT NULL,
	target      BIGINT NOT NULL,
	at          BIGINT NOT NULL,
	took        BIGINT NOT NULL, -- microseconds
	code        BIGINT, -- empty if no answer arrived
	problem     TEXT NOT NULL, -- reason of the failure; empty for success
	signature   TEXT NOT NULL,
	answer      BYTEA, -- first KiB, sealed
-- postgres: begin
	PRIMARY KEY (event_id, endpoint_id, n, team_id)
);
-- postgres: end
-- sqlite: begin
	PRIMARY KEY (event_id, endpoint_id, n, team_id)
) STRICT, WITHOUT ROWID;
-- sqlite: end
