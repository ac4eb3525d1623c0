-- +goose Up

-- Public lists that the operator imported, the same for all teams. Each is one row of
-- packed text. A node reads it into memory when its revision changes.
CREATE TABLE public_lists (
	name        TEXT NOT NULL PRIMARY KEY, -- payors, icd10, icd10_excludes
	revision    UUID NOT NULL, -- changes with each import
	edition     TEXT NOT NULL, -- the operator's name of the edition, such as 2026
	entries     BIGINT NOT NULL,
	body        BYTEA NOT NULL, -- the list, compressed with zstd
	imported_at BIGINT NOT NULL
);

-- Insurers that a team added.
CREATE TABLE payors (
	team_id    UUID NOT NULL,
	payor_code TEXT NOT NULL,
	name       TEXT NOT NULL,
	address    TEXT NOT NULL, -- JSON, person.Address
	provider   TEXT NOT NULL, -- clearing house; '' for none
	provider_payor_id TEXT NOT NULL, -- code of the clearing house
	created_at BIGINT NOT NULL,
	PRIMARY KEY (team_id, payor_code)
);
CREATE INDEX payors_by_external_code ON payors (team_id, provider, provider_payor_id);
