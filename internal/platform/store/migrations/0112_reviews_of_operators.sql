-- +goose Up

-- Every node counts the results that wait for an operator.
CREATE INDEX unmatched_results_of_operators ON unmatched_results (created_at) WHERE status = 'pending_ops_review';
