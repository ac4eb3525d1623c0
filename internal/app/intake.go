package app

import (
	"context"
	"path/filepath"
	"time"

	"hale/internal/platform/jobs"
	"hale/internal/wearables/connections/demo"
	"hale/internal/wearables/days"
	"hale/internal/wearables/deletion"
	"hale/internal/wearables/imports"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/ledger/replay"
	"hale/internal/wearables/reread"
	"hale/internal/wearables/zones"
)

// intake holds the parts that store wearable data, and read it again.
type intake struct {
	ingester *ingest.Ingester
	days     *days.Service
	ledger   *ledger.Ledger
	uploads  *imports.Service
	replay   *replay.Service
	deleting *deletion.Service
	rereads  *reread.Service
	demos    *demo.Service
}

// intake creates the parts, and the loop that removes old uploads.
func (a *App) intake() intake {
	in := intake{ledger: &ledger.Ledger{}, days: &days.Service{}}
	in.ingester = ingest.New(a.DB, in.days.Changed)
	in.days.Ingester = in.ingester
	in.uploads = &imports.Service{
		DB: a.DB, Ledger: in.ledger, Dir: filepath.Join(a.Config.Data, "imports"), MaxUpload: int64(a.Config.ImportLimit),
		Node: a.workers.node.ID, Log: a.Log, Records: a.Metrics.Records,
	}
	a.workers.add("upload sweeping", func(ctx context.Context) error { return in.uploads.KeepSwept(ctx, 10*time.Minute) })
	in.replay = &replay.Service{
		DB: a.DB, Sink: ingest.NewReprocessor(a.DB),
		Imports: in.uploads, Dir: in.uploads.Dir, Log: a.Log,
	}
	in.deleting = &deletion.Service{DB: a.DB, Ingester: in.replay.Sink, Ledger: in.ledger}
	in.uploads.Sink = in.deleting.Replacing(in.ingester)
	in.rereads = &reread.Service{DB: a.DB, Imports: in.uploads, Deleting: in.deleting, Sink: in.replay.Sink}
	in.demos = &demo.Service{DB: a.DB, Sink: in.ingester}
	return in
}

func (in intake) jobs() []jobs.Handler {
	return append(in.demos.Jobs(), in.uploads.Job(), in.replay.Job(), zones.Job(), in.days.Job(), in.deleting.Job(), in.rereads.Job())
}
