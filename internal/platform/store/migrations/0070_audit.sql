-- +goose Up

-- The audit log. Blocks form a chain for each team; the code of a block covers its
-- rows and the code of the block before. See the package audit.
CREATE TABLE audit_blocks (
	team_id  UUID NOT NULL, -- zero for commands on the whole installation
	number   BIGINT NOT NULL, -- 1, 2, 3, …
	made_at  BIGINT NOT NULL,
	entries  BIGINT NOT NULL, -- rows of the block
	previous BYTEA, -- code of the block before; NULL in block 1
	code     BYTEA NOT NULL,
	PRIMARY KEY (team_id, number)
);
CREATE INDEX audit_blocks_by_age ON audit_blocks (team_id, made_at, number);

CREATE TABLE audit_log (
	team_id      UUID NOT NULL,
	block        BIGINT NOT NULL,
	n            BIGINT NOT NULL, -- 0, 1, 2, … in the block
	at           BIGINT NOT NULL,
	actor_kind   TEXT NOT NULL, -- key, phone, portal, operator
	actor        TEXT NOT NULL,
	on_behalf_of TEXT NOT NULL,
	action       TEXT NOT NULL,
	user_id      UUID,
	object_id    TEXT NOT NULL,
	address      TEXT NOT NULL,
	status       BIGINT NOT NULL,
	request_id   TEXT NOT NULL,
	PRIMARY KEY (team_id, block, n)
);
CREATE INDEX audit_log_by_user ON audit_log (team_id, user_id, block, n) WHERE user_id IS NOT NULL;

-- Rows of changes, until the writer of the log moves them into a block.
CREATE TABLE audit_pending (
	team_id UUID NOT NULL,
	id      UUID NOT NULL, -- version 7
	body    TEXT NOT NULL, -- JSON, audit.Entry; no personal data
	PRIMARY KEY (team_id, id)
);
