-- +goose Up

-- Critical results that a person must be notified of.
CREATE TABLE critical_notices (
	team_id      UUID NOT NULL,
	id           UUID NOT NULL, -- version 7
	user_id      UUID, -- empty for a result in review
	order_id     UUID,
	result_id    UUID, -- the result in review
	revision     BIGINT NOT NULL, -- of the order's results; 0 for a result in review
	state        TEXT NOT NULL, -- open, acknowledged, closed
	raised_at    BIGINT NOT NULL,
	due_at       BIGINT NOT NULL, -- when it escalates
	escalated_at BIGINT,
	ended_at     BIGINT,
	body         BYTEA, -- sealed JSON, critical.Acknowledgement
	PRIMARY KEY (team_id, id)
);
CREATE INDEX critical_notices_by_state ON critical_notices (team_id, state, id);
CREATE INDEX critical_notices_by_user ON critical_notices (team_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX critical_notices_by_result ON critical_notices (team_id, result_id) WHERE result_id IS NOT NULL;
CREATE INDEX critical_notices_open ON critical_notices (raised_at) WHERE state = 'open';

-- E-mails about them, at most one of each kind.
CREATE TABLE critical_mails (
	team_id    UUID NOT NULL,
	notice_id  UUID NOT NULL,
	kind       TEXT NOT NULL, -- notification, escalation
	id         UUID NOT NULL,
	user_id    UUID,
	recipient  TEXT NOT NULL, -- an address of the team's settings
	state      TEXT NOT NULL, -- queued, sent, outbox, failed, cleared
	problem    TEXT NOT NULL,
	attempts   BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	ended_at   BIGINT,
	PRIMARY KEY (team_id, notice_id, kind)
);
CREATE INDEX critical_mails_by_user ON critical_mails (team_id, user_id) WHERE user_id IS NOT NULL;
