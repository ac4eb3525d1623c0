-- +goose Up

-- The sequencer alone numbers events, of all teams, in the order of turn. Nothing
-- reads the events of one team that wait for their numbers.
-- postgres: begin
DROP INDEX events_unnumbered_of_team;
-- postgres: end
