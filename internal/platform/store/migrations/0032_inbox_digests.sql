-- +goose Up

-- The SHA-256 of a message, which tells another message under a key that is
-- used again from the same one. Null for those from before.
ALTER TABLE inbox_messages ADD COLUMN digest BYTEA;
