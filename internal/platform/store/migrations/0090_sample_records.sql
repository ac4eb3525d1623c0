-- +goose Up

-- The provider's own id of a sample, as a digest with the user. Only samples that state
-- an id have a row. A sample that takes the place of another one takes its row, too.
CREATE TABLE sample_records (
	team_id   UUID NOT NULL,
	user_id   UUID NOT NULL,
	series_id BIGINT NOT NULL,
	at        BIGINT NOT NULL, -- start of the sample
	record_id UUID NOT NULL,
	PRIMARY KEY (user_id, series_id, at)
);
CREATE INDEX sample_records_by_record ON sample_records (user_id, record_id);
