package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"hale/internal/platform/rows"
)

// MaxBody is the size of the largest envelope, in bytes. The domain splits a larger
// payload, or announces it with a link.
const MaxBody = 256 << 10

// ErrTooLarge means that an envelope would be larger than MaxBody.
var ErrTooLarge = errors.New("events: an event is larger than 256 KiB")

// New is an event to emit.
type New struct {
	Team         uuid.UUID
	User         uuid.UUID // zero if the event is about no user
	ClientUserID string    // the team's own reference for the user
	Type         string    // one of the catalogue
	Data         []byte    // JSON of the payload
	FeedOnly     bool      // no endpoint receives it

	body, packed []byte // set by Ready
}

// Ready writes and compresses the envelope, so that SQLite's one writer does not do it
// in the transaction. It does not check Data, which must be JSON that the caller made.
// Emit calls it for an event that is not ready.
func (e *New) Ready() error {
	return e.ReadyWith(len(e.Data), func(dst []byte) []byte { return append(dst, e.Data...) })
}

// ReadyWith prepares the envelope like Ready. payload appends the data in place, so Data
// is not used. size is the approximate size of the data in bytes.
func (e *New) ReadyWith(size int, payload func(dst []byte) []byte) error {
	if err := e.check(); err != nil {
		return err
	}
	stored := append(make([]byte, 0, 1+e.overhead()+size), plainForm)
	stored = e.appendTail(payload(e.appendHead(stored)))
	if err := e.checkSize(stored[1:]); err != nil {
		return err
	}
	e.body, e.packed = stored[1:], stored
	if len(e.body) > compressAbove {
		e.packed = pack(e.body)
	}
	return nil
}

// ReadyRows prepares the envelope like Ready, with rows as its data. It takes as many
// rows as fit into an event and returns their number. Such an envelope is stored by
// column, which costs a tenth of compressing it.
func (e *New) ReadyRows(t rows.Table) (n int, err error) {
	around, err := e.enclose() // with no payload in it yet
	if err != nil {
		return 0, err
	}
	at := bytes.Index(around, []byte(`"data":`)) + len(`"data":`)
	t.Head, t.Tail = append(around[:at:at], t.Head...), append(t.Tail[:len(t.Tail):len(t.Tail)], around[at:]...)
	e.body, n = t.Append(make([]byte, 0, min(MaxBody, t.Size())), MaxBody)
	if len(e.body) > MaxBody {
		return 0, fmt.Errorf("%w: %s of %d bytes", ErrTooLarge, e.Type, len(e.body))
	}
	t.Columns = t.Columns.Slice(0, n)
	e.packed, err = t.Pack(append(make([]byte, 0, len(around)+2*n), asRows))
	return n, err
}

// Room returns the size of the largest payload of an event, in bytes.
func Room(e New) int { return MaxBody - len(envelope(e, nil)) }

// envelope writes the bytes that are signed and sent, on every attempt and to
// every reader.
//
// Spec: Events, Envelope.
func envelope(e New, data []byte) []byte {
	buf := e.appendHead(make([]byte, 0, len(data)+e.overhead()))
	return e.appendTail(append(buf, data...))
}

// overhead returns the size of an envelope without its payload, or a little more.
func (e *New) overhead() int { return len(e.ClientUserID) + len(e.Type) + 180 }

// appendHead appends the part of the envelope before the payload.
func (e *New) appendHead(buf []byte) []byte {
	buf = append(buf, `{"event_type":"`...)
	buf = append(buf, e.Type...)
	return append(buf, `","data":`...)
}

// appendTail appends the part of the envelope after the payload.
func (e *New) appendTail(buf []byte) []byte {
	buf = append(buf, `,"team_id":"`...)
	buf = appendUUID(buf, e.Team)
	buf = append(buf, `","user_id":`...)
	if e.User == uuid.Nil {
		return append(buf, `null,"client_user_id":null}`...)
	}
	buf = append(buf, '"')
	buf = appendUUID(buf, e.User)
	buf = append(buf, `","client_user_id":`...)
	return append(appendText(buf, e.ClientUserID), '}')
}

// appendText appends a JSON string.
func appendText(buf []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(text)
			if err != nil {
				panic(err) // a string always marshals
			}
			return append(buf, quoted...)
		}
	}
	return append(append(append(buf, '"'), text...), '"')
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
	if err := e.check(); err != nil {
		return nil, err
	}
	body := envelope(e, e.Data)
	return body, e.checkSize(body)
}

func (e *New) check() error {
	if e.Team == uuid.Nil {
		return errors.New("events: an event needs a team")
	}
	return nil
}

func (e *New) checkSize(body []byte) error {
	if len(body) > MaxBody {
		return fmt.Errorf("%w: %s of %d bytes", ErrTooLarge, e.Type, len(body))
	}
	return nil
}
