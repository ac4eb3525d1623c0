-- +goose Up

-- One row: facts about this installation.
CREATE TABLE instance (
	id        BIGINT PRIMARY KEY CHECK (id = 1),
	pinged_at BIGINT NOT NULL
);
INSERT INTO instance (id, pinged_at) VALUES (1, 0);

-- A customer team. It owns users, keys and all other data.
CREATE TABLE teams (
	id          UUID NOT NULL PRIMARY KEY,
	name        TEXT NOT NULL,
	environment TEXT NOT NULL CHECK (environment IN ('sandbox', 'production')),
	settings    TEXT NOT NULL, -- JSON, teams.Settings
	created_at  BIGINT NOT NULL
);

-- API keys, only as hashes. The id is the part of the key that may be shown.
CREATE TABLE api_keys (
	id         UUID NOT NULL,
	team_id    UUID NOT NULL REFERENCES teams (id),
	label      TEXT NOT NULL,
	hint       TEXT NOT NULL, -- prefix and last four characters
	hash       BYTEA NOT NULL, -- SHA-256 of the whole key
	created_at BIGINT NOT NULL,
	expires_at BIGINT, -- set by rotation and revocation
	used_at    BIGINT,
	PRIMARY KEY (team_id, id)
);
CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (hash);

-- Keys that seal personal data, each encrypted with its parent key. A subject is a
-- user, or the zero UUID for the team itself.
CREATE TABLE sealing_keys (
	team_id    UUID NOT NULL,
	subject_id UUID NOT NULL,
	number     BIGINT NOT NULL,
	wrapped    BYTEA NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (team_id, subject_id, number)
);

-- Stored answers to requests with an Idempotency-Key, for repetitions of them.
CREATE TABLE idempotency_keys (
	team_id    UUID NOT NULL,
	key_hash   BYTEA NOT NULL,
	request    BYTEA NOT NULL, -- SHA-256 of method, path and body
	status     BIGINT NOT NULL, -- 0 while the first request runs
	headers    TEXT NOT NULL,
	body       BYTEA NOT NULL, -- sealed
	locked_until BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (team_id, key_hash)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
