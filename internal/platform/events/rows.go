package events

import (
	"bytes"
	"fmt"

	"hale/internal/platform/rows"
)

// ReadyRows is Ready for a payload that is rows, as many of them as an event has
// room for; it tells how many those are. Such an envelope is kept by its columns,
// which costs a tenth of compressing it.
func (e *New) ReadyRows(t rows.Text) (n int, err error) {
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
