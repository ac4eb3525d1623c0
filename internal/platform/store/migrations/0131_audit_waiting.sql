-- +goose Up

-- Waiting rows are read without the refused ones, which stay.
CREATE INDEX audit_pending_waiting ON audit_pending (team_id, id) WHERE refused = 0;
CREATE INDEX audit_pending_refused ON audit_pending (team_id) WHERE refused = 1;
