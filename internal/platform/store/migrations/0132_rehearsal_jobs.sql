-- +goose Up

-- The jobs of rehearsals had another kind in earlier versions. A node runs only the kinds
-- that it knows, so stored jobs get the present one.
UPDATE jobs SET kind = 'matching.rehearsal' WHERE kind = 'matching.drill';
