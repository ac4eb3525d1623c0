-- +goose Up

-- Results for which no team could be found. An operator assigns or rejects them.
-- The report stays in the inbox until then.
CREATE TABLE unassigned_results (
	team_id        UUID NOT NULL, -- the zero team
	id             UUID NOT NULL, -- of the report in the inbox
	state          TEXT NOT NULL, -- unread, waiting, assigned, rejected
	reason         TEXT NOT NULL, -- an inbox.Reason; empty in rows of earlier versions
	lab            TEXT NOT NULL, -- slug, as reported
	interpretation TEXT NOT NULL,
	received_at    BIGINT NOT NULL,
	decided_at     BIGINT,
	decided_by     TEXT NOT NULL,
	assigned_team  UUID,
	assigned_order UUID,
	note           BYTEA, -- sealed
	forgotten      BOOLEAN NOT NULL, -- the report is deleted
	PRIMARY KEY (id, team_id)
);
CREATE INDEX unassigned_results_by_state ON unassigned_results (state, received_at, id);
CREATE INDEX unassigned_results_rejected ON unassigned_results (decided_at) WHERE state = 'rejected' AND forgotten = FALSE;

-- Reports without a team that earlier versions only logged. A job reads which of
-- them have results.
INSERT INTO unassigned_results (team_id, id, state, reason, lab, interpretation, received_at, decided_by, forgotten)
	SELECT team_id, id, 'unread', '', '', '', received_at, '', FALSE FROM inbox_reports WHERE state = 'unmatched' AND user_id IS NULL;

-- Why a report was not applied to an order.
ALTER TABLE inbox_reports ADD COLUMN reason TEXT NOT NULL DEFAULT '';

-- The person or key that decided about a result.
ALTER TABLE unmatched_results ADD COLUMN reviewed_by TEXT NOT NULL DEFAULT '';
