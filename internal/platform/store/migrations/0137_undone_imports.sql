-- +goose Up

-- A later import may have replaced values of an undone one. When the later import is undone
-- too, these changes say what was stored before. NULL means not undone.
ALTER TABLE import_changes ADD COLUMN undone_at BIGINT;
CREATE INDEX import_changes_undone ON import_changes (user_id, at) WHERE undone_at IS NOT NULL;

-- When a push stated the same version of a summary that an import had stored. It stays when
-- the import is undone. NULL means never.
ALTER TABLE summaries ADD COLUMN stated_at BIGINT;
