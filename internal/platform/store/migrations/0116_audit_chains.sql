-- +goose Up

-- Each waiting row has a code that needs the root key. The writer of the log refuses a
-- row without a valid one. Such a row stays here, and hale audit verify reports it.
ALTER TABLE audit_pending ADD COLUMN code BYTEA;
ALTER TABLE audit_pending ADD COLUMN refused BIGINT NOT NULL DEFAULT 0;

-- The list of chains: where the chain of each team begins and ends. See audit/chains.go.
CREATE TABLE audit_chains (
	team_id  UUID NOT NULL PRIMARY KEY,
	n        BIGINT NOT NULL, -- 1, 2, 3, … in the list
	first    BIGINT NOT NULL, -- the oldest block that the retention has left
	previous BYTEA, -- code of the block before it
	last     BIGINT NOT NULL, -- the newest block
	code     BYTEA NOT NULL
);

-- The time at which the list began, 0 before; the length of the list; their code.
ALTER TABLE instance ADD COLUMN audit_listed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instance ADD COLUMN audit_chains BIGINT NOT NULL DEFAULT 0;
ALTER TABLE instance ADD COLUMN audit_code BYTEA;
