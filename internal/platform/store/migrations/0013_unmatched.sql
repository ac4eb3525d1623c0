-- +goose Up

-- Results whose order is not certain. Until a decision, the personal data of a result is
-- sealed with a key of its own, which has the result's id as subject. Afterwards it is
-- sealed with the key of the user.
CREATE TABLE unmatched_results (
	team_id        UUID NOT NULL,
	id             UUID NOT NULL, -- of the report in the inbox
	status         TEXT NOT NULL CHECK (status IN ('arrived', 'matched', 'pending_customer_review', 'pending_ops_review', 'resolved')),
	decision       TEXT NOT NULL, -- a decision code; empty while arrived
	account_differs BOOLEAN NOT NULL, -- the lab reported it for another account
	lab_id         BIGINT NOT NULL, -- 0 for a lab that the catalogue does not have
	network        TEXT NOT NULL, -- slug
	report_key     TEXT NOT NULL, -- permanent key of the report in the history of its order
	partial        BOOLEAN NOT NULL,
	interpretation TEXT NOT NULL,
	action         TEXT, -- the decision
	user_id        UUID, -- the user of the result, once decided
	order_id       UUID,
	created_at     BIGINT NOT NULL,
	updated_at     BIGINT NOT NULL,
	reviewed_at    BIGINT,
	summary        BYTEA, -- sealed JSON, matching.Summary; empty once forgotten
	body           BYTEA, -- sealed JSON, networks.Report; empty once recorded with an order, or forgotten
	PRIMARY KEY (team_id, id)
);
CREATE INDEX unmatched_results_by_time ON unmatched_results (team_id, created_at, id);
CREATE INDEX unmatched_results_by_user ON unmatched_results (team_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX unmatched_results_closed ON unmatched_results (reviewed_at) WHERE reviewed_at IS NOT NULL AND summary IS NOT NULL;

-- The orders that a result may belong to, the likeliest first.
CREATE TABLE unmatched_candidates (
	team_id   UUID NOT NULL,
	result_id UUID NOT NULL,
	n         BIGINT NOT NULL,
	user_id   UUID NOT NULL,
	order_id  UUID NOT NULL,
	kind      TEXT NOT NULL CHECK (kind IN ('provenance_order', 'order_option')),
	alike     BOOLEAN NOT NULL, -- whether the order's patient is the person on the report
	body      TEXT NOT NULL, -- JSON, matching.Grounds: words and numbers, nothing personal
	PRIMARY KEY (team_id, result_id, n)
);
CREATE INDEX unmatched_candidates_by_user ON unmatched_candidates (team_id, user_id);

-- Rehearsals of unmatched results, for sandbox teams.
CREATE TABLE unmatched_drills (
	team_id        UUID NOT NULL,
	id             UUID NOT NULL,
	key_hash       BYTEA NOT NULL, -- of the idempotency key
	request        BYTEA NOT NULL, -- hash of the request
	body           TEXT NOT NULL, -- JSON, rehearsal.Request
	status         TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
	stage          TEXT NOT NULL,
	orders         TEXT NOT NULL, -- JSON, by role
	result_id      UUID,
	error_code     TEXT,
	error_message  TEXT,
	created_at     BIGINT NOT NULL,
	updated_at     BIGINT NOT NULL,
	started_at     BIGINT,
	completed_at   BIGINT,
	PRIMARY KEY (team_id, id)
);
CREATE UNIQUE INDEX unmatched_drills_by_key ON unmatched_drills (team_id, key_hash);
