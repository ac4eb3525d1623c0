-- +goose Up

-- Rights of a key. See teams.Rights.
ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT ''; -- separated by commas; empty for all
ALTER TABLE api_keys ADD COLUMN addresses TEXT NOT NULL DEFAULT ''; -- networks, separated by commas; empty for all
ALTER TABLE api_keys ADD COLUMN personal_data BOOLEAN NOT NULL DEFAULT TRUE;
