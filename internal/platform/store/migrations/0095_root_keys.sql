-- +goose Up

-- The root keys that a node knows, as ids separated by blanks; the first one seals.
ALTER TABLE nodes ADD COLUMN root_keys TEXT NOT NULL DEFAULT '';

-- The keys for codes of replaced root keys, sealed with the current root key. Codes of
-- that time are still recognized. The keys decrypt nothing.
CREATE TABLE retired_root_keys (
	id         BYTEA  NOT NULL,
	purpose    TEXT   NOT NULL,
	sealed     BYTEA  NOT NULL,
	retired_at BIGINT NOT NULL,
	PRIMARY KEY (id, purpose)
);
