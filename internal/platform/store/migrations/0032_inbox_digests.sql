-- +goose Up

-- The SHA-256 of a message. It distinguishes a repeated message from another one with the
-- same key. It is NULL for messages from before this column.
ALTER TABLE inbox_messages ADD COLUMN digest BYTEA;
