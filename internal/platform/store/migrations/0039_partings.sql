-- +goose Up

-- sqlite: begin
-- How often a connection was removed or paused, which the deletion of its user
-- does too. Pushes of many are planned on what was committed before; where this
-- has moved since, they are planned anew.
ALTER TABLE instance ADD COLUMN partings INTEGER NOT NULL DEFAULT 0;
-- +goose StatementBegin
CREATE TRIGGER connections_removed AFTER DELETE ON connections
BEGIN
	UPDATE instance SET partings = partings + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER connections_paused AFTER UPDATE OF status ON connections
BEGIN
	UPDATE instance SET partings = partings + 1;
END;
-- +goose StatementEnd
-- sqlite: end
