-- +goose Up

-- Whether data of the past changed after the end of a history was announced. The next end
-- is then announced too.
ALTER TABLE history_announced ADD COLUMN changed BOOLEAN NOT NULL DEFAULT FALSE;
