-- +goose Up

-- On which days a provider has summaries is told by the index alone: a row lies
-- beside its body, and years of bodies would be read for it.
DROP INDEX summaries_by_day;
CREATE INDEX summaries_by_day ON summaries (user_id, resource, calendar_date, id, provider, team_id);
