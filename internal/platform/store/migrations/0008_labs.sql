-- +goose Up

-- One row: which imports the catalogue of labs and markers is made of. The
-- revision changes with each, so that a node sees when what it keeps in memory
-- is old.
CREATE TABLE catalogue (
	id       BIGINT PRIMARY KEY CHECK (id = 1),
	revision TEXT NOT NULL, -- empty before the first import
	next_id  BIGINT NOT NULL -- for imported rows; those of the binary are all lower
);
INSERT INTO catalogue (id, revision, next_id) VALUES (1, '', 1000000);

-- Labs and markers that imports added: the same for all teams. What ships with
-- the binary is in no table.
CREATE TABLE catalogue_labs (
	id          BIGINT PRIMARY KEY,
	slug        TEXT NOT NULL UNIQUE,
	body        TEXT NOT NULL, -- JSON, labs.Lab
	imported_at BIGINT NOT NULL
);
CREATE TABLE catalogue_markers (
	id          BIGINT PRIMARY KEY,
	lab_id      BIGINT NOT NULL,
	provider_id TEXT NOT NULL, -- the lab's own code
	active      BOOLEAN NOT NULL, -- false once a full import did not name it
	body        TEXT NOT NULL, -- JSON, labs.Marker
	imported_at BIGINT NOT NULL,
	UNIQUE (lab_id, provider_id)
);

-- What a team orders: markers of one lab, collected in one way. Its status
-- follows from the last two columns.
CREATE TABLE lab_tests (
	team_id        UUID NOT NULL,
	id             UUID NOT NULL,
	slug           TEXT NOT NULL,
	name           TEXT NOT NULL,
	name_folded    TEXT NOT NULL, -- lower case, for searching
	description    TEXT NOT NULL,
	lab_id         BIGINT NOT NULL,
	method         TEXT NOT NULL,
	sample_type    TEXT NOT NULL,
	fasting        BOOLEAN NOT NULL,
	price_minor    BIGINT NOT NULL, -- US cents
	account_id     UUID, -- when it is offered with one lab account only
	markers        TEXT NOT NULL, -- JSON, list of marker ids
	auto_generated BOOLEAN NOT NULL, -- made for an order of single markers
	composition    BYTEA NOT NULL, -- hash of lab, method and markers
	created_at     BIGINT NOT NULL,
	updated_at     BIGINT NOT NULL,
	approved_at    BIGINT,
	archived_at    BIGINT,
	PRIMARY KEY (team_id, id)
);
-- The same set of markers, ordered again, is the same lab test.
CREATE UNIQUE INDEX lab_tests_by_composition ON lab_tests (team_id, composition) WHERE auto_generated;
CREATE INDEX lab_tests_by_age ON lab_tests (team_id, created_at, id);

-- The markers once more, for finding lab tests by them.
CREATE TABLE lab_test_markers (
	team_id     UUID NOT NULL,
	test_id     UUID NOT NULL,
	marker_id   BIGINT NOT NULL,
	provider_id TEXT NOT NULL,
	PRIMARY KEY (team_id, test_id, marker_id)
);
CREATE INDEX lab_test_markers_by_marker ON lab_test_markers (team_id, marker_id);
CREATE INDEX lab_test_markers_by_provider ON lab_test_markers (team_id, provider_id);

-- Accounts with labs. One without an owner is the platform's and open to every
-- team; every other only to the teams that are linked to it below.
CREATE TABLE lab_accounts (
	id                     UUID NOT NULL PRIMARY KEY,
	owner                  UUID, -- a team
	lab_id                 BIGINT NOT NULL,
	status                 TEXT NOT NULL,
	delegated_flow         TEXT NOT NULL,
	provider_account_id    TEXT NOT NULL,
	account_name           TEXT,
	default_clinical_notes TEXT,
	business_units         TEXT NOT NULL, -- JSON, list
	allowed_billing        TEXT NOT NULL, -- JSON, billing type to states
	created_at             BIGINT NOT NULL,
	updated_at             BIGINT NOT NULL
);
CREATE TABLE lab_account_teams (
	team_id    UUID NOT NULL,
	account_id UUID NOT NULL REFERENCES lab_accounts (id),
	PRIMARY KEY (team_id, account_id)
);

-- Physicians in whose name a team orders: names and numbers that stand in a
-- public register, so that an operator can keep them without the root key.
CREATE TABLE team_physicians (
	team_id    UUID NOT NULL,
	id         UUID NOT NULL,
	npi        TEXT NOT NULL,
	body       TEXT NOT NULL, -- JSON, labs.Physician
	created_at BIGINT NOT NULL,
	PRIMARY KEY (team_id, id),
	UNIQUE (team_id, npi)
);
