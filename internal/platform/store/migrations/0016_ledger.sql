-- +goose Up

-- What came in, as it came: bodies that phones pushed and files that were
-- uploaded, compressed and sealed with the user's key. The id is a keyed digest
-- of the content, so that the same body again is the same row with a later
-- last_at; a digest without the key tells nothing. An ordinary rowid table on
-- SQLite, for the reason that sample_blocks is one.
CREATE TABLE payloads (
	team_id  UUID NOT NULL,
	user_id  UUID NOT NULL,
	id       UUID NOT NULL,
	kind     TEXT NOT NULL, -- push_samples, push_summaries, or the kind of a file
	provider TEXT NOT NULL, -- '' for a file, whose reader finds out
	resource TEXT NOT NULL, -- of a push
	mapping  BIGINT NOT NULL, -- version of the mapping that read it last
	size     BIGINT NOT NULL, -- bytes as they came
	packed   BIGINT NOT NULL, -- bytes as they are kept
	chunks   BIGINT NOT NULL, -- rows of payload_chunks; 0 when data is here
	whole    BOOLEAN NOT NULL, -- false while a file is being written
	times    BIGINT NOT NULL, -- how often it came
	first_at BIGINT NOT NULL,
	last_at  BIGINT NOT NULL,
	data     BYTEA,
	PRIMARY KEY (user_id, id)
);
CREATE INDEX payloads_by_age ON payloads (team_id, last_at);

-- Payloads over a mebibyte, a mebibyte a row.
CREATE TABLE payload_chunks (
	team_id    UUID NOT NULL,
	user_id    UUID NOT NULL,
	payload_id UUID NOT NULL,
	number     BIGINT NOT NULL, -- from 0
	data       BYTEA NOT NULL,
	PRIMARY KEY (user_id, payload_id, number)
);
-- postgres: begin
-- Compressed and sealed bytes do not compress: spare the server the attempt.
ALTER TABLE payloads ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE payload_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
-- postgres: end

-- Which payload a summary was last read from: what the raw reads answer.
CREATE TABLE payload_items (
	team_id    UUID NOT NULL,
	user_id    UUID NOT NULL,
	summary_id UUID NOT NULL,
	payload_id UUID NOT NULL,
	place      BIGINT NOT NULL, -- in the body's data, from 0; -1 for a file
	PRIMARY KEY (user_id, summary_id)
);

-- The key of a user's digests, sealed with the user's key. forgotten says that
-- payloads of the user ended with their retention, so that those left do not
-- tell the whole story.
CREATE TABLE payload_keys (
	team_id   UUID NOT NULL,
	user_id   UUID NOT NULL,
	key       BYTEA NOT NULL,
	forgotten BOOLEAN NOT NULL,
	PRIMARY KEY (user_id)
);

-- Runs of "read everything again with today's mapping". The id is that of the
-- job. The report has counts and names of fields, never values.
CREATE TABLE renormalisations (
	team_id     UUID NOT NULL,
	id          UUID NOT NULL,
	user_id     UUID, -- of whom; null for everybody
	dry_run     BOOLEAN NOT NULL,
	every       BOOLEAN NOT NULL, -- also what today's mapping has read already
	status      TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'canceled')),
	done        BIGINT NOT NULL, -- users
	total       BIGINT NOT NULL,
	last_user   UUID, -- the last one that is finished
	report      TEXT NOT NULL,
	error       TEXT NOT NULL,
	created_at  BIGINT NOT NULL,
	finished_at BIGINT,
	PRIMARY KEY (team_id, id)
);
