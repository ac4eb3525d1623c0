package files

import (
	"cmp"
	"context"
	"strings"

	"github.com/google/uuid"

	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/wearables"
)

// Kind is one kind of file that can be imported.
type Kind struct {
	Name  string // on the wire, such as apple_health
	Title string // in sentences, such as "Apple Health export"
	// Provider is the slug of the provider whose history a file has. It is empty for
	// recordings, which have no history.
	Provider string
	// Recording means that a file holds one recording, such as a ride, and not the
	// history of a person. Even a user's first file of such a kind is not the user's
	// history.
	Recording bool
	// WallClock means that some times may have no zone. They are read in the user's
	// fallback zone, and are read again if that zone changes.
	WallClock bool
	// Check recognizes a file of this kind by its content, without reading it to the
	// end. Other files give NewUnlikeError. A file that ends before its first complete record
	// gives NewCutError. An unreadable file, such as a locked zip, gives another error. limit
	// bounds the document, uncompressed, in bytes; 0 leaves it to the kind.
	Check func(path string, limit int64) error
	// Run imports a file. With an error it also returns an outcome: the data that was
	// stored before.
	Run func(ctx context.Context, in Input) (*Outcome, error)
}

// Input is the input of a reader.
type Input struct {
	Path  string
	Limit int64 // of the document, uncompressed, in bytes; 0 leaves it to the kind
	DB    *store.DB
	Sink  Sink
	User  users.User
	// HistoryOnly announces the data as history as a whole, not value by value.
	HistoryOnly bool
	// Stage returns the stage of a provider's data. It returns the same in every attempt
	// at one import. Nil means daily.
	Stage func(ctx context.Context, provider string) (wearables.Stage, error)
	// Unheard reports the resources of a provider that had no data before the file,
	// where another file has brought the rest of the history. Nil means none.
	Unheard func(ctx context.Context, provider string) (func(resource string) bool, error)
	// Device finds or creates one of the user's devices. Nil stores none.
	Device   func(ctx context.Context, d Device) (uuid.UUID, error)
	Progress func(Progress) // called often, from one goroutine at a time; may be nil
}

// MaxDevices bounds the devices of one file, because each sends an event.
const MaxDevices = 100

// Device is the hardware that a file names as its source; missing texts are empty.
type Device struct {
	Provider, SourceType, Manufacturer, Model, ExternalID, Version string
}

// Sink stores data; *ingest.Ingester is one.
type Sink interface {
	Ingest(ctx context.Context, user users.User, b wearables.Batch) (wearables.Result, error)
	HistoricalDone(ctx context.Context, user users.User, provider string, resources map[string]wearables.Range) error
}

// UnlikeError means that a file is not of a kind, so it may be of another.
type UnlikeError struct{ text string }

// NewUnlikeError returns the error of a Check for a file of another kind. The text names the
// missing part.
func NewUnlikeError(text string) error { return &UnlikeError{text} }

func (e *UnlikeError) Error() string { return e.text }

// Kind returns the kind of fault: the service understands the request and refuses the
// file.
func (e *UnlikeError) Kind() fault.Kind { return fault.Unprocessable }

// CutError means that a file seems to be of a kind, but ends in the middle of its first
// record. So the reader finds no complete record.
type CutError struct{ title string }

// NewCutError returns the error of a Check for such a file. title is that of the kind.
func NewCutError(title string) error { return &CutError{title} }

func (e *CutError) Error() string {
	return "the file is " + e.title + " that ends in the middle of its first record, so that nothing of it can be read"
}

// Kind returns the kind of fault: the service understands the request and refuses the
// file.
func (e *CutError) Kind() fault.Kind { return fault.Unprocessable }

// makers are words for a provider at the start of the name of a device or
// program, folded.
var makers = []struct{ word, slug string }{
	{"garmin", "garmin"},
	{"edge ", "garmin"},
	{"forerunner", "garmin"},
	{"fenix", "garmin"},
	{"strava", "strava"},
	{"polar", "polar"},
	{"wahoo", "wahoo"},
	{"elemnt", "wahoo"},
	{"zwift", "zwift"},
	{"fitbit", "fitbit"},
	{"runkeeper", "runkeeper"},
	{"mapmy", "map_my_fitness"},
	{"hammerhead", "hammerhead"},
	{"peloton", "peloton"},
	{"withings", "withings"},
}

// Maker returns the slug of the provider whose name a device or program carries. If the
// catalogue has the manufacturer, the data belongs to it. So a file and a later pull of
// the same workout have one provider and are the same workout. Other files are manual:
// a person provided the file, and its manufacturer cannot be connected.
func Maker(name string) string {
	folded := strings.ToLower(strings.TrimSpace(name))
	for _, m := range makers {
		if strings.HasPrefix(folded, m.word) {
			return m.slug
		}
	}
	return "manual"
}

// recorders maps makers to the source type of their devices or programs, as in the
// replies of their interfaces.
var recorders = map[string]string{
	"fitbit": "watch", "garmin": "watch", "hammerhead": "watch", "polar": "watch", "wahoo": "watch",
	"runkeeper": "app", "strava": "app",
}

// Recorder returns the source type of a recording of a provider, or unknown if the
// provider states none. So a file and a reply about one workout agree.
func Recorder(provider string) string { return cmp.Or(recorders[provider], "unknown") }

// Text bounds a text that a file chooses.
func Text(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, ""))
	for i := range s {
		if i > 200 {
			return s[:i]
		}
	}
	return s
}
