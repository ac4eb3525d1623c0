-- +goose Up

-- Uploaded exports of health data and what became of them. The id is that of
-- the job that does the work. The file lies in the imports folder of the node
-- that took it; its own name is not kept, since people name files.
CREATE TABLE imports (
	team_id      UUID NOT NULL,
	user_id      UUID NOT NULL,
	id           UUID NOT NULL,
	kind         TEXT NOT NULL, -- apple_health
	size         BIGINT NOT NULL, -- bytes of the upload
	sha256       BYTEA NOT NULL,
	history_only BOOLEAN NOT NULL,
	status       TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'canceled')),
	stage        TEXT NOT NULL, -- historical or daily, decided when it first runs; '' before
	spool        TEXT NOT NULL, -- name of the file
	step         TEXT NOT NULL, -- what it is doing; '' before it first runs
	done         BIGINT NOT NULL, -- bytes of the document
	total        BIGINT NOT NULL,
	records      BIGINT NOT NULL,
	skipped      BIGINT NOT NULL,
	report       BYTEA, -- JSON, sealed: which types there were says something about the person
	error        TEXT NOT NULL, -- for the caller; names no values
	attempts     BIGINT NOT NULL,
	created_at   BIGINT NOT NULL,
	started_at   BIGINT, -- last attempt
	finished_at  BIGINT,
	PRIMARY KEY (team_id, id)
);
CREATE INDEX imports_by_user ON imports (team_id, user_id, id);
CREATE INDEX imports_live ON imports (spool) WHERE status IN ('queued', 'running');
