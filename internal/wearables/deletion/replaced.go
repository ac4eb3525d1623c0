package deletion

import (
	"context"

	"hale/internal/people/users"
	"hale/internal/wearables"
	"hale/internal/wearables/formats/files"
)

// Replacing returns a sink for imports. A sample of a file replaces the stored sample of
// its record, wherever that is: see RemoveMoved.
func (s *Service) Replacing(into files.Sink) files.Sink { return &replacingSink{into, s} }

type replacingSink struct {
	files.Sink
	service *Service
}

// Ingest removes the samples that the batch replaces, and stores it.
func (r *replacingSink) Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error) {
	if err := r.service.RemoveMoved(ctx, user.Team, user.ID, &b); err != nil {
		return wearables.Result{}, err
	}
	return r.Sink.Ingest(ctx, user, b)
}
