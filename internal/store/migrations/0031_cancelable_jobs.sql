-- +goose Up

-- Whether people may cancel the job, as its kind says.
ALTER TABLE jobs ADD COLUMN cancelable BOOLEAN NOT NULL DEFAULT FALSE;
