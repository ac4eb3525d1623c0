-- +goose Up

-- Since when nothing is sent to other systems, such as after a restore; 0 while
-- sending is allowed.
ALTER TABLE instance ADD COLUMN outgoing_held_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instance ADD COLUMN outgoing_held_reason TEXT NOT NULL DEFAULT '';
