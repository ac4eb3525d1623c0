-- +goose Up

-- When the clock was last checked before data was deleted by age; 0 before the first
-- check.
ALTER TABLE instance ADD COLUMN clock_at BIGINT NOT NULL DEFAULT 0;
