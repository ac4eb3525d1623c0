-- +goose Up

-- Payloads: bodies of pushes and uploaded files, compressed and sealed with the user's
-- key. The id is a keyed digest of the content, so that a repeated body is the same row
-- with a later last_at. A digest without the key reveals nothing. On SQLite this is a
-- rowid table, for the same reason as sample_blocks.
CREATE TABLE payloads (
	team_id  UUID NOT NULL,
	user_id  UUID NOT NULL,
	id       UUID NOT NULL,
	kind     TEXT NOT NULL, -- push_samples, push_summaries, or the kind of a file
	provider TEXT NOT NULL, -- '' for a file, because its reader determines it
	resource TEXT NOT NULL, -- of a push
	mapping  BIGINT NOT NULL, -- version of the mapping that processed it last
	size     BIGINT NOT NULL, -- bytes as received
	packed   BIGINT NOT NULL, -- bytes as stored
	chunks   BIGINT NOT NULL, -- rows of payload_chunks; 0 when data is here
	whole    BOOLEAN NOT NULL, -- false while a file is being written
	times    BIGINT NOT NULL, -- number of times that it was received
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
-- Compressed and sealed bytes do not compress, so the server does not try.
ALTER TABLE payloads ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE payload_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
-- postgres: end

-- The last payload of each summary, for raw reads.
CREATE TABLE payload_items (
	team_id    UUID NOT NULL,
	user_id    UUID NOT NULL,
	summary_id UUID NOT NULL,
	payload_id UUID NOT NULL,
	place      BIGINT NOT NULL, -- in the body's data, from 0; -1 for a file
	PRIMARY KEY (user_id, summary_id)
);

-- The key of a user's digests, sealed with the user's key. If forgotten is set, the
-- retention has deleted payloads of the user, so that the remaining ones are incomplete.
CREATE TABLE payload_keys (
	team_id   UUID NOT NULL,
	user_id   UUID NOT NULL,
	key       BYTEA NOT NULL,
	forgotten BOOLEAN NOT NULL,
	PRIMARY KEY (user_id)
);

-- Runs that reprocess stored payloads with the current mapping. The id is also that of
-- the job. The report has counts and names of fields, never values.
CREATE TABLE renormalisations (
	team_id     UUID NOT NULL,
	id          UUID NOT NULL,
	user_id     UUID, -- null for all users
	dry_run     BOOLEAN NOT NULL,
	every       BOOLEAN NOT NULL, -- includes payloads that the current mapping has processed
	status      TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'canceled')),
	done        BIGINT NOT NULL, -- number of users
	total       BIGINT NOT NULL,
	last_user   UUID, -- the last finished user
	report      TEXT NOT NULL,
	error       TEXT NOT NULL,
	created_at  BIGINT NOT NULL,
	finished_at BIGINT,
	PRIMARY KEY (team_id, id)
);
