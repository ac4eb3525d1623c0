-- +goose Up

-- Identifies the database. Data folders that served it have the same id in their file
-- installation.
ALTER TABLE instance ADD COLUMN installation TEXT NOT NULL DEFAULT '';
