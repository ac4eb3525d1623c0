-- +goose Up

-- sqlite: begin
-- Number of times that a connection was removed or paused, also by the deletion of its
-- user. Pushes of several users are planned on earlier commits. If this number has
-- changed since, they are planned again.
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
