-- +goose Up

-- Lists of failed jobs and messages: a team has few of them among many others.
CREATE INDEX jobs_failed ON jobs (team_id, id) WHERE status = 'failed';
CREATE INDEX messages_failed ON messages (team_id, id) WHERE state = 'failed';
