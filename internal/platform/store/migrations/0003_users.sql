-- +goose Up

-- End users of a team. Deleted users stay until their grace period ends.
-- block is the page of the team's list in which the user is counted.
CREATE TABLE users (
	team_id         UUID NOT NULL,
	user_id         UUID NOT NULL,
	block           BIGINT NOT NULL,
	client_user_id  TEXT NOT NULL,
	created_on      BIGINT NOT NULL,
	deleted_at      BIGINT,
	time_zone       TEXT, -- IANA name
	time_zone_at    BIGINT,
	birth_date      BYTEA, -- sealed YYYY-MM-DD
	birth_date_at   BIGINT,
	ingestion_start TEXT, -- YYYY-MM-DD
	ingestion_end   TEXT,
	info_rev        BIGINT NOT NULL, -- newest row in user_info; 0 for none
	info_version    BIGINT NOT NULL, -- value of the team's name counter when the name last changed
	PRIMARY KEY (team_id, user_id)
);

-- Prefixes are matched byte by byte. SQLite does so by default.
-- postgres: begin
ALTER TABLE users ALTER COLUMN client_user_id TYPE TEXT COLLATE "C";
-- postgres: end

CREATE UNIQUE INDEX users_by_client ON users (team_id, client_user_id) WHERE deleted_at IS NULL;
CREATE INDEX users_by_age ON users (team_id, block, user_id) WHERE deleted_at IS NULL;
CREATE INDEX users_deleted ON users (team_id, client_user_id, deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX users_by_name_change ON users (team_id, info_version) WHERE info_version > 0;

-- Numbers of live users: of a block (block >= 0) and of the team (block -1). Block -2
-- counts changes of names. A number is the sum of its slots, which let concurrent
-- transactions on PostgreSQL update different rows.
CREATE TABLE user_counts (
	team_id UUID NOT NULL,
	block   BIGINT NOT NULL,
	slot    BIGINT NOT NULL,
	n       BIGINT NOT NULL,
	PRIMARY KEY (team_id, block, slot)
);

-- Demographics, a row for each version. The newest is the current one.
CREATE TABLE user_info (
	team_id    UUID NOT NULL,
	user_id    UUID NOT NULL,
	rev        BIGINT NOT NULL,
	created_on BIGINT NOT NULL,
	body       BYTEA NOT NULL, -- sealed JSON, users.Info
	PRIMARY KEY (team_id, user_id, rev)
);

-- Insurance records with their history. The newest primary one is the current one.
CREATE TABLE insurance (
	team_id      UUID NOT NULL,
	user_id      UUID NOT NULL,
	insurance_id UUID NOT NULL,
	is_primary   BOOLEAN NOT NULL,
	created_on   BIGINT NOT NULL,
	body         BYTEA NOT NULL, -- sealed JSON, insurance.Record
	PRIMARY KEY (team_id, user_id, insurance_id)
);

-- Links into the portal, by the hash of their token.
CREATE TABLE portal_links (
	token_hash BYTEA NOT NULL PRIMARY KEY, -- SHA-256
	team_id    UUID NOT NULL,
	user_id    UUID NOT NULL,
	context    TEXT NOT NULL CHECK (context IN ('launch', 'communications')),
	created_on BIGINT NOT NULL,
	expires_on BIGINT NOT NULL,
	tries      BIGINT NOT NULL -- number of wrong dates of birth
);
CREATE INDEX portal_links_of_user ON portal_links (team_id, user_id);

-- Sessions of persons in the portal.
CREATE TABLE portal_sessions (
	token_hash BYTEA NOT NULL PRIMARY KEY,
	team_id    UUID NOT NULL,
	user_id    UUID NOT NULL,
	created_on BIGINT NOT NULL,
	seen_at    BIGINT NOT NULL
);
CREATE INDEX portal_sessions_of_user ON portal_sessions (team_id, user_id);

-- Devices on which a person passed the check of the date of birth.
CREATE TABLE portal_devices (
	token_hash BYTEA NOT NULL PRIMARY KEY,
	team_id    UUID NOT NULL,
	user_id    UUID NOT NULL,
	expires_on BIGINT NOT NULL
);
CREATE INDEX portal_devices_of_user ON portal_devices (team_id, user_id);
