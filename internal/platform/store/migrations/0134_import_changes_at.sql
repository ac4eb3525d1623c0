-- +goose Up

-- A push that replaces a stored value looks whether an import stored it, by its time.
CREATE INDEX import_changes_at ON import_changes (user_id, at);
