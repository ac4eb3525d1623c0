-- +goose Up

-- Fingerprints of the deleted samples of a block, sealed. The block stays when its last
-- sample is deleted, with n = 0, so that a repeated import does not bring them back.
ALTER TABLE sample_blocks ADD COLUMN deleted BYTEA;

-- Deleted summaries: fingerprints of their fields, sealed. Without them no version of the
-- record is stored again.
CREATE TABLE deleted_summaries (
	team_id    UUID NOT NULL,
	user_id    UUID NOT NULL,
	id         UUID NOT NULL,
	resource   TEXT NOT NULL,
	provider   TEXT NOT NULL,
	start_at   BIGINT, -- of a session, whole seconds
	deleted_at BIGINT NOT NULL,
	fields     BYTEA,
	PRIMARY KEY (user_id, id)
);
CREATE INDEX deleted_summaries_by_start ON deleted_summaries (user_id, resource, provider, start_at);

-- Changes of an import, sealed. Each batch has the places of its new values and the former
-- values of changed ones. They are deleted with the import's data.
CREATE TABLE import_changes (
	team_id   UUID NOT NULL,
	user_id   UUID NOT NULL,
	import_id UUID NOT NULL,
	seq       BIGINT NOT NULL,
	at        BIGINT NOT NULL,
	data      BYTEA NOT NULL,
	PRIMARY KEY (user_id, import_id, seq)
);

-- When the data of an ended import was deleted.
ALTER TABLE imports ADD COLUMN undone_at BIGINT;

-- Deletions of data that a user or a team asked for, with their counts.
CREATE TABLE data_deletions (
	team_id     UUID NOT NULL,
	user_id     UUID NOT NULL,
	id          UUID NOT NULL, -- also that of its job, if it needs one
	filter      BYTEA NOT NULL, -- JSON, sealed: it may name an app or a record
	status      TEXT NOT NULL,
	report      TEXT NOT NULL, -- JSON: counts by resource
	position    TEXT NOT NULL, -- JSON: where the next step continues
	created_at  BIGINT NOT NULL,
	finished_at BIGINT,
	PRIMARY KEY (user_id, id)
);

