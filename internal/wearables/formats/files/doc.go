// Package files is what the readers of uploaded files share: what a kind of
// file is, how what was read gets into the store, and what is told about it.
//
// A kind is one value (kind.go). Adding one takes a folder beside this one
// whose package has a variable Kind, and one line in internal/wearables/imports/kinds.go:
//
//	var Kind = files.Kind{Name: "gpx", Title: "GPX", Recording: true, Check: check, Run: run}
//
// Its Run reads the file, opens a Store for the provider that the file turns
// out to be from, hands over what it finds, and finishes:
//
//	func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
//		outcome := files.NewOutcome()
//		store, err := in.Store(ctx, "garmin", outcome)
//		…
//		err = store.Samples(ctx, samples)
//		…
//		return outcome, store.Finish(ctx)
//	}
//
// Run may be repeated from the start after any interruption: what is stored
// already changes nothing.
//
//	kind.go       what a kind is and what its reader is given
//	store.go      from what was read to samples, summaries and history
//	course.go     a workout moment by moment, as devices record it
//	recording.go  from that to a workout, its stream and its samples
//	same.go       a workout that a device and its maker tell both
//	maker.go      whose data a file is
//	outcome.go    what was in the file and what it changed
//	progress.go   how far it is
package files
