-- +goose Up

-- The text of the message is deleted; the row still recognizes a repetition.
ALTER TABLE inbox_messages ADD COLUMN forgotten BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX inbox_messages_to_forget ON inbox_messages (received_at) WHERE user_id IS NULL AND forgotten = FALSE;
