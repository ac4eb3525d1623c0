// Package files contains what the readers of uploaded files share: kinds of files,
// storing of records, and reports.
//
// A kind is one value (kind.go). Adding one takes a folder beside this one whose
// package has a variable Kind, and one line in internal/wearables/imports/kinds.go:
//
//	var Kind = files.Kind{Name: "gpx", Title: "GPX", Recording: true, Check: check, Run: run}
//
// Its Run reads the file, opens a Store for the provider of the file, stores the
// records, and finishes:
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
// Run may be repeated from the start after any interruption: stored records do not
// change.
//
//	kind.go        kinds of files, the input of their readers, and the provider of a file
//	store.go       stores records as samples, summaries and history
//	course.go      a workout moment by moment, as devices record it
//	recording.go   converts a course to a workout, its stream and its samples
//	duplicates.go  a workout of both a device and its manufacturer
//	outcome.go     the progress of an import, the content of a file and its changes
package files
