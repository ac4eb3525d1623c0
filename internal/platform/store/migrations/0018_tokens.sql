-- +goose Up

-- Sign-in tokens and link codes of phones, as hashes. Each is valid for one exchange.
CREATE TABLE sign_ins (
	secret_hash BYTEA NOT NULL PRIMARY KEY, -- SHA-256
	team_id     UUID NOT NULL,
	user_id     UUID NOT NULL,
	kind        TEXT NOT NULL CHECK (kind IN ('token', 'code')),
	created_on  BIGINT NOT NULL,
	expires_on  BIGINT NOT NULL
);
CREATE INDEX sign_ins_of_user ON sign_ins (team_id, user_id);
CREATE INDEX sign_ins_by_end ON sign_ins (expires_on);

-- Signed-in phones. refresh_before is the refresh token that was used last, because an
-- answer to a phone may be lost.
CREATE TABLE phone_sessions (
	team_id        UUID NOT NULL,
	user_id        UUID NOT NULL,
	session_id     UUID NOT NULL,
	refresh_hash   BYTEA NOT NULL, -- SHA-256
	refresh_before BYTEA,
	created_on     BIGINT NOT NULL,
	refreshed_on   BIGINT NOT NULL,
	expires_on     BIGINT NOT NULL,
	PRIMARY KEY (team_id, user_id, session_id)
);
CREATE UNIQUE INDEX phone_sessions_by_refresh ON phone_sessions (refresh_hash);
CREATE UNIQUE INDEX phone_sessions_by_before ON phone_sessions (refresh_before) WHERE refresh_before IS NOT NULL;
CREATE INDEX phone_sessions_by_end ON phone_sessions (expires_on);

-- Access tokens of those phones.
CREATE TABLE access_tokens (
	token_hash BYTEA NOT NULL PRIMARY KEY, -- SHA-256
	team_id    UUID NOT NULL,
	user_id    UUID NOT NULL,
	session_id UUID NOT NULL,
	expires_on BIGINT NOT NULL
);
CREATE INDEX access_tokens_of_user ON access_tokens (team_id, user_id, session_id);
CREATE INDEX access_tokens_by_end ON access_tokens (expires_on);

-- Users whose data collection has ended. There are few, and a job searches them every
-- quarter of an hour.
CREATE INDEX users_by_ingestion_end ON users (ingestion_end) WHERE ingestion_end IS NOT NULL;
