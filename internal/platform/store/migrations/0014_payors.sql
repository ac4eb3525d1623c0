-- +goose Up

-- Public lists that the operator imported, the same for all teams: one row of
-- packed text each, read into memory when its revision is new.
CREATE TABLE public_lists (
	name        TEXT NOT NULL PRIMARY KEY, -- payors, icd10, icd10_excludes
	revision    UUID NOT NULL, -- another one with each import
	edition     TEXT NOT NULL, -- what the operator called it, such as 2026
	entries     BIGINT NOT NULL,
	body        BYTEA NOT NULL, -- zstd of the list in this program's own form
	imported_at BIGINT NOT NULL
);

-- Insurers that a team added for itself.
CREATE TABLE payors (
	team_id    UUID NOT NULL,
	payor_code TEXT NOT NULL,
	name       TEXT NOT NULL,
	address    TEXT NOT NULL, -- JSON, person.Address
	provider   TEXT NOT NULL, -- clearing house; '' for none
	provider_payor_id TEXT NOT NULL, -- what the clearing house calls it
	created_at BIGINT NOT NULL,
	PRIMARY KEY (team_id, payor_code)
);
CREATE INDEX payors_by_external_code ON payors (team_id, provider, provider_payor_id);
