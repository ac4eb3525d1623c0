-- +goose Up

-- Uploaded exports of health data and their results. The id is also that of the job.
-- The file is in the imports folder of the node that received it. Its own name is not
-- stored, because file names may be personal.
CREATE TABLE imports (
	team_id      UUID NOT NULL,
	user_id      UUID NOT NULL,
	id           UUID NOT NULL,
	kind         TEXT NOT NULL, -- apple_health
	size         BIGINT NOT NULL, -- bytes of the upload
	sha256       BYTEA NOT NULL,
	history_only BOOLEAN NOT NULL,
	status       TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'canceled')),
	stage        TEXT NOT NULL, -- historical or daily, set at the first run; '' before
	spool        TEXT NOT NULL, -- name of the file
	step         TEXT NOT NULL, -- current step; '' before the first run
	done         BIGINT NOT NULL, -- bytes of the document
	total        BIGINT NOT NULL,
	records      BIGINT NOT NULL,
	skipped      BIGINT NOT NULL,
	report       BYTEA, -- sealed JSON, because the types of data are personal
	error        TEXT NOT NULL, -- for the caller; names no values
	attempts     BIGINT NOT NULL,
	created_at   BIGINT NOT NULL,
	started_at   BIGINT, -- last attempt
	finished_at  BIGINT,
	PRIMARY KEY (team_id, id)
);
CREATE INDEX imports_by_user ON imports (team_id, user_id, id);
CREATE INDEX imports_live ON imports (spool) WHERE status IN ('queued', 'running');
