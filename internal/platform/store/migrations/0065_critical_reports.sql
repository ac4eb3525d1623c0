-- +goose Up

-- Critical values of a parsed report.
ALTER TABLE critical_notices ADD COLUMN report_id UUID;
CREATE INDEX critical_notices_by_report ON critical_notices (team_id, report_id) WHERE report_id IS NOT NULL;
