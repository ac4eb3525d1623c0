-- +goose Up

-- Lab reports that teams upload to be read.
CREATE TABLE parsed_reports (
	team_id          UUID NOT NULL,
	id               UUID NOT NULL, -- version 7
	user_id          UUID NOT NULL,
	status           TEXT NOT NULL, -- reports.Status
	review_requested BOOLEAN NOT NULL,
	reviewed         BOOLEAN NOT NULL,
	failure          TEXT NOT NULL, -- extract.FailureReason; empty for none
	digest           BYTEA NOT NULL, -- SHA-256 of the files
	files            BIGINT NOT NULL,
	size             BIGINT NOT NULL, -- bytes of all files
	pages            BIGINT NOT NULL, -- 0 until it is read
	slot             BIGINT NOT NULL, -- the queue slot that reads it; -1 waits, -2 is paused
	starts           BIGINT NOT NULL, -- readings that began
	deaths           BIGINT NOT NULL, -- readings that ended the reader's process
	revision         BIGINT NOT NULL, -- latest row of parsed_report_revisions; 0 for none
	created_at       BIGINT NOT NULL,
	updated_at       BIGINT NOT NULL,
	finished_at      BIGINT,
	body             BYTEA NOT NULL, -- sealed JSON, reports.details
	PRIMARY KEY (team_id, id)
);
CREATE INDEX parsed_reports_by_user ON parsed_reports (team_id, user_id, id);
CREATE INDEX parsed_reports_by_file ON parsed_reports (team_id, user_id, digest, created_at);
CREATE INDEX parsed_reports_waiting ON parsed_reports (team_id, slot, starts, id) WHERE status = 'started';
CREATE INDEX parsed_reports_in_review ON parsed_reports (team_id, id) WHERE status = 'pending_review';

-- The uploaded files, in the order of the pages.
CREATE TABLE parsed_report_files (
	team_id   UUID NOT NULL,
	report_id UUID NOT NULL,
	n         BIGINT NOT NULL, -- from 0
	user_id   UUID NOT NULL,
	media     TEXT NOT NULL, -- application/pdf, image/jpeg or image/png
	body      BYTEA NOT NULL, -- sealed file
	PRIMARY KEY (team_id, report_id, n)
);
CREATE INDEX parsed_report_files_by_user ON parsed_report_files (team_id, user_id);
-- postgres: begin
ALTER TABLE parsed_report_files ALTER COLUMN body SET STORAGE EXTERNAL;
-- postgres: end

-- The results of a report: the first reading, then one row for each decision of
-- a reviewer. Rows are added and never changed.
CREATE TABLE parsed_report_revisions (
	team_id    UUID NOT NULL,
	report_id  UUID NOT NULL,
	revision   BIGINT NOT NULL, -- from 1
	user_id    UUID NOT NULL,
	created_at BIGINT NOT NULL,
	body       BYTEA NOT NULL, -- sealed JSON, reports.Version
	PRIMARY KEY (team_id, report_id, revision)
);
CREATE INDEX parsed_report_revisions_by_user ON parsed_report_revisions (team_id, user_id);
