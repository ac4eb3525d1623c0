package events

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// MaxBody is the largest envelope that is sent, in bytes. A payload that
// would be larger is split by its domain, or announced with a link instead.
const MaxBody = 256 << 10

// ErrTooLarge says that an envelope would be larger than MaxBody.
var ErrTooLarge = errors.New("events: an event is larger than 256 KiB")

// New is an event to be announced.
type New struct {
	Team         uuid.UUID
	User         uuid.UUID // zero when the event is about no user
	ClientUserID string    // the team's own reference for the user
	Type         string    // one of the catalogue
	Data         []byte    // JSON of the payload

	body, packed []byte // set by Ready
}

// Ready does what of emitting an event needs no transaction: it writes and
// compresses the envelope, so that the one writer need not. Data must be JSON
// of the caller's own making, since it is not looked at again. An event that
// is not ready is emitted all the same.
func (e *New) Ready() error {
	body, err := e.enclose()
	if err != nil {
		return err
	}
	e.body, e.packed = body, pack(body)
	return nil
}

// Room is how many bytes the payload of an event may have.
func Room(e New) int { return MaxBody - len(envelope(e, nil)) }

// envelope writes the bytes that are signed and sent, on every attempt and to
// every reader.
//
// Spec: Events, Envelope.
func envelope(e New, data []byte) []byte {
	buf := make([]byte, 0, len(data)+len(e.ClientUserID)+len(e.Type)+180)
	buf = append(buf, `{"event_type":"`...)
	buf = append(buf, e.Type...)
	buf = append(buf, `","data":`...)
	buf = append(buf, data...)
	buf = append(buf, `,"team_id":"`...)
	buf = appendUUID(buf, e.Team)
	buf = append(buf, `","user_id":`...)
	if e.User == uuid.Nil {
		return append(buf, `null,"client_user_id":null}`...)
	}
	buf = append(buf, '"')
	buf = appendUUID(buf, e.User)
	buf = append(buf, `","client_user_id":`...)
	name, err := json.Marshal(e.ClientUserID)
	if err != nil {
		panic(err) // a string always marshals
	}
	buf = append(buf, name...)
	return append(buf, '}')
}

func appendUUID(buf []byte, id uuid.UUID) []byte {
	text, _ := id.MarshalText() // has no error to return
	return append(buf, text...)
}

func (e New) marshal() ([]byte, error) {
	if !json.Valid(e.Data) {
		return nil, fmt.Errorf("events: the payload of a %s is not JSON", e.Type)
	}
	return e.enclose()
}

func (e New) enclose() ([]byte, error) {
	if e.Team == uuid.Nil {
		return nil, errors.New("events: an event needs a team")
	}
	if !Known(e.Type) {
		return nil, fmt.Errorf("events: type %q is not in the catalogue", e.Type)
	}
	body := envelope(e, e.Data)
	if len(body) > MaxBody {
		return nil, fmt.Errorf("%w: %s of %d bytes", ErrTooLarge, e.Type, len(body))
	}
	return body, nil
}
