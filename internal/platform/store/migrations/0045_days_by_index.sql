-- +goose Up

-- The index alone has the days on which a provider has summaries. The rows contain the
-- bodies, and a query without the index would read years of them.
DROP INDEX summaries_by_day;
CREATE INDEX summaries_by_day ON summaries (user_id, resource, calendar_date, id, provider, team_id);
