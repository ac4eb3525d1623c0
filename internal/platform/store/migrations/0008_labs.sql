-- +goose Up

-- One row: the state of the catalogue of labs and markers. The revision changes with
-- each import, so that a node notices when its copy in memory is old.
CREATE TABLE catalogue (
	id       BIGINT PRIMARY KEY CHECK (id = 1),
	revision TEXT NOT NULL, -- empty before the first import
	next_id  BIGINT NOT NULL -- for imported rows; those of the binary are all lower
);
INSERT INTO catalogue (id, revision, next_id) VALUES (1, '', 1000000);

-- Labs and markers from imports, the same for all teams. The catalogue of the binary is
-- in no table.
CREATE TABLE catalogue_labs (
	id          BIGINT PRIMARY KEY,
	slug        TEXT NOT NULL UNIQUE,
	body        TEXT NOT NULL, -- JSON, catalogue.Lab
	imported_at BIGINT NOT NULL
);
CREATE TABLE catalogue_markers (
	id          BIGINT PRIMARY KEY,
	lab_id      BIGINT NOT NULL,
	provider_id TEXT NOT NULL, -- the lab's own code
	active      BOOLEAN NOT NULL, -- false if the last full import does not name it
	body        TEXT NOT NULL, -- JSON, catalogue.Marker
	imported_at BIGINT NOT NULL,
	UNIQUE (lab_id, provider_id)
);

-- Lab tests of a team: markers of one lab with one collection method. The last two
-- columns determine the status.
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
	account_id     UUID, -- set if only one lab account offers it
	markers        TEXT NOT NULL, -- JSON, list of marker ids
	auto_generated BOOLEAN NOT NULL, -- made for an order of single markers
	composition    BYTEA NOT NULL, -- hash of lab, method and markers
	created_at     BIGINT NOT NULL,
	updated_at     BIGINT NOT NULL,
	approved_at    BIGINT,
	archived_at    BIGINT,
	PRIMARY KEY (team_id, id)
);
-- The same set of markers is the same lab test.
CREATE UNIQUE INDEX lab_tests_by_composition ON lab_tests (team_id, composition) WHERE auto_generated;
CREATE INDEX lab_tests_by_age ON lab_tests (team_id, created_at, id);

-- The markers of lab tests, for searches.
CREATE TABLE lab_test_markers (
	team_id     UUID NOT NULL,
	test_id     UUID NOT NULL,
	marker_id   BIGINT NOT NULL,
	provider_id TEXT NOT NULL,
	PRIMARY KEY (team_id, test_id, marker_id)
);
CREATE INDEX lab_test_markers_by_marker ON lab_test_markers (team_id, marker_id);
CREATE INDEX lab_test_markers_by_provider ON lab_test_markers (team_id, provider_id);

-- Accounts with labs. An account without an owner belongs to the platform, and every team
-- may use it. Other accounts are open only to the teams that are linked below.
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

-- Physicians under whose name a team orders. Their names and numbers are in a public
-- register, so that an operator can change them without the root key.
CREATE TABLE team_physicians (
	team_id    UUID NOT NULL,
	id         UUID NOT NULL,
	npi        TEXT NOT NULL,
	body       TEXT NOT NULL, -- JSON, catalogue.Physician
	created_at BIGINT NOT NULL,
	PRIMARY KEY (team_id, id),
	UNIQUE (team_id, npi)
);
