-- +goose Up

-- The user's fallback zone when the file was read; empty without one, NULL of imports
-- from before it was recorded.
ALTER TABLE imports ADD COLUMN zone TEXT;
-- The deletion of the data that was read by another zone, until the file is read again.
ALTER TABLE imports ADD COLUMN rereading_id UUID;
