-- +goose Up

-- The root keys that a node knows, as ids separated by blanks; the first one seals.
ALTER TABLE nodes ADD COLUMN root_keys TEXT NOT NULL DEFAULT '';

-- What remains of root keys that were replaced: their keys for codes, sealed with the
-- present root key, so that codes of that time are still recognized. They open nothing.
CREATE TABLE retired_root_keys (
	id         BYTEA  NOT NULL,
	purpose    TEXT   NOT NULL,
	sealed     BYTEA  NOT NULL,
	retired_at BIGINT NOT NULL,
	PRIMARY KEY (id, purpose)
);
