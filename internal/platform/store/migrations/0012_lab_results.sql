-- +goose Up

-- Reports of labs about an order, unchanged. Rows are added and never changed.
CREATE TABLE lab_reports (
	team_id     UUID NOT NULL,
	id          UUID NOT NULL, -- version 7
	order_id    UUID NOT NULL,
	user_id     UUID NOT NULL, -- the user whose key seals it
	received_at BIGINT NOT NULL,
	body        BYTEA NOT NULL, -- sealed JSON, results.Report
	PRIMARY KEY (team_id, order_id, id)
);
CREATE INDEX lab_reports_by_user ON lab_reports (team_id, user_id);

-- Documents of reports.
CREATE TABLE lab_report_documents (
	team_id   UUID NOT NULL,
	report_id UUID NOT NULL,
	user_id   UUID NOT NULL,
	body      BYTEA NOT NULL, -- sealed PDF
	PRIMARY KEY (team_id, report_id)
);
CREATE INDEX lab_report_documents_by_user ON lab_report_documents (team_id, user_id);

-- Results of an order, a row for each report that changed them. Rows are added and never
-- changed. The last one has the current results.
CREATE TABLE lab_results (
	team_id        UUID NOT NULL,
	order_id       UUID NOT NULL,
	revision       BIGINT NOT NULL, -- from 1
	user_id        UUID NOT NULL,
	created_at     BIGINT NOT NULL,
	status         TEXT NOT NULL CHECK (status IN ('partial', 'final')),
	corrected      BOOLEAN NOT NULL,
	interpretation TEXT NOT NULL,
	has_missing    BOOLEAN NOT NULL,
	document       UUID, -- the report with the current document
	body           BYTEA NOT NULL, -- sealed JSON, results.Version
	PRIMARY KEY (team_id, order_id, revision)
);
CREATE INDEX lab_results_by_user ON lab_results (team_id, user_id);
