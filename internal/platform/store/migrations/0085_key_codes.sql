-- +goose Up

-- API keys are found by an authentication code that needs the root key, see
-- teams/codes.go. A row that was written without the root key opens nothing. hash then
-- repeats the code. Until then it is the SHA-256 of the key, for nodes of older versions.
ALTER TABLE api_keys ADD COLUMN code BYTEA;
-- The authentication code of the row: its ids, its code, its rights and its expiry.
ALTER TABLE api_keys ADD COLUMN proof BYTEA;
CREATE UNIQUE INDEX api_keys_by_code ON api_keys (code);

-- The time at which keys of older versions got their codes; 0 before.
ALTER TABLE instance ADD COLUMN keys_coded_at BIGINT NOT NULL DEFAULT 0;
