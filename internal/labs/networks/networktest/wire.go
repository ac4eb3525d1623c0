package networktest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"hale/internal/labs/hl7"
	"hale/internal/labs/hl7/mllp"
)

// The names of a WireLab and of its customer: MSH-3 and MSH-4.
const (
	WireApplication = "WIRELAB"
	WireFacility    = "WIRE"
	WireCustomer    = "HALE"
)

// WireLab is a laboratory on a TCP port with HL7 over MLLP. It receives orders,
// counts them by their placer number and sends results on request. It may run
// in another process than the service.
type WireLab struct {
	// Codes are the results of each of its tests.
	Codes map[string][]WireResult
	// Refuses holds the tests that the lab refuses, with the reasons.
	Refuses map[string]string

	listener net.Listener
	mu       sync.Mutex
	book     map[string]*WireOrder
	sent     int
}

// WireResult is a row of a report.
type WireResult struct{ Code, Name, LOINC, Value, Unit, Range string }

// WireOrder is an order at the lab.
type WireOrder struct {
	// Messages counts the messages about it; Different counts those that
	// differ from the first one.
	Messages, Different int
	Cancelled           int
	// Processing is MSH-11 of the first message.
	Processing string
	// Number is the lab's own number of the order.
	Number string

	raw []byte
}

// Open listens on a free loopback port.
func (l *WireLab) Open() (address string, err error) {
	var config net.ListenConfig
	l.listener, err = config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	l.book = map[string]*WireOrder{}
	return l.listener.Addr().String(), nil
}

// Run answers until ctx ends.
func (l *WireLab) Run(ctx context.Context) error {
	server := mllp.Server{Handle: l.answer, DrainTimeout: time.Second}
	return server.Serve(ctx, l.listener)
}

// Orders returns the lab's orders by placer number.
func (l *WireLab) Orders() map[string]WireOrder {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]WireOrder{}
	for placer, o := range l.book {
		all[placer] = *o
	}
	return all
}

// answer answers an order: ORL^O22, with the lab's number and, for each test,
// whether the lab accepts it.
func (l *WireLab) answer(_ context.Context, raw []byte) []byte {
	m, err := hl7.Parse(raw)
	if err != nil {
		return nil
	}
	header := m.Header()
	orc := m.First("ORC")
	number := l.record(orc.Get(2), orc.Get(1), header.Processing, raw)
	ack := m.Acknowledge(hl7.Accepted, "A"+header.ControlID, header.Time.Time, nil)
	for _, s := range m.Segments {
		if s.Name() == "ORC" {
			orc = s
		}
		if s.Name() != "OBR" {
			continue
		}
		answered := map[string]string{"NW": "OK", "CA": "CR"}[orc.Get(1)]
		why := l.Refuses[s.Get(4)]
		if why != "" && answered == "OK" {
			answered = "UA"
		}
		ack.Add("ORC", hl7.Fields{1: hl7.Text(answered), 2: hl7.Text(orc.Get(2)), 3: hl7.Text(number), 16: hl7.Text("", why)})
		ack.Add("OBR", hl7.Fields{1: hl7.Text(s.Get(1)), 2: hl7.Text(orc.Get(2)), 3: hl7.Text(number), 4: hl7.Text(s.Get(4), s.Get(4, 2))})
	}
	out, err := ack.Emit()
	if err != nil {
		return nil
	}
	return out
}

func (l *WireLab) record(placer, control, processing string, raw []byte) (number string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, known := l.book[placer]
	if !known {
		o = &WireOrder{Processing: processing, Number: fmt.Sprintf("W%06d", len(l.book)+1)}
		l.book[placer] = o
	}
	if control == "CA" {
		o.Cancelled++
		return o.Number
	}
	o.Messages++
	if o.raw == nil {
		o.raw = bytes.Clone(raw)
	} else if !bytes.Equal(o.raw, raw) {
		o.Different++
	}
	return o.Number
}

// Report sends results of an order, final or with another status, until a
// listener acknowledges them. A message without an answer is sent again under
// the same number, to the next listener.
func (l *WireLab) Report(ctx context.Context, placer, status string, to ...string) error {
	raw, control, err := l.report(placer, status, nil, "")
	if err != nil {
		return err
	}
	return l.send(ctx, raw, control, to)
}

// damages change the person on a report: to another person, or to one that is not
// certain.
var damages = []func(pid hl7.Fields){
	func(pid hl7.Fields) { pid[5] = hl7.Text(pid[5][0][0], "Zoe") },
	func(pid hl7.Fields) { pid[5] = hl7.Text(pid[5][0][0]+"son", pid[5][0][1]) },
	func(pid hl7.Fields) { pid[5] = hl7.Text(pid[5][0][0]) },
	func(pid hl7.Fields) { delete(pid, 5) },
	func(pid hl7.Fields) { delete(pid, 7) },
	func(pid hl7.Fields) { pid[7] = hl7.Text("19010101") },
	func(pid hl7.Fields) { pid[8] = hl7.Text(map[string]string{"F": "M", "M": "F"}[pid[8][0][0]]) },
}

// ReportDamaged sends a final report like Report, with a damaged identity of the person.
// way selects one of several kinds of damage. value is the value of every result; with ""
// the lab reports its usual values.
func (l *WireLab) ReportDamaged(ctx context.Context, placer string, way int, value string, to ...string) error {
	raw, control, err := l.report(placer, "F", damages[way%len(damages)], value)
	if err != nil {
		return err
	}
	return l.send(ctx, raw, control, to)
}

// send sends a message until a listener acknowledges it.
func (l *WireLab) send(ctx context.Context, raw []byte, control string, to []string) error {
	for n := 0; ; n++ {
		client := mllp.Client{Address: to[n%len(to)], AnswerTimeout: 5 * time.Second, ConnectTimeout: time.Second}
		answer, err := client.Exchange(ctx, raw, func([]byte) bool { return true })
		client.Close()
		if err == nil {
			ack, parsed := hl7.Parse(answer)
			if parsed == nil && ack.First("MSA").Get(2) == control && ack.First("MSA").Get(1) == string(hl7.Accepted) {
				return nil
			}
			if parsed == nil && ack.First("MSA").Get(1) == string(hl7.Rejected) {
				return fmt.Errorf("networktest: the report was rejected: %s", ack.First("ERR").Get(8))
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// report builds an ORU^R01 about an order of the lab. damage may change the
// person; value replaces all values if it is not empty.
func (l *WireLab) report(placer, status string, damage func(pid hl7.Fields), value string) (raw []byte, control string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, known := l.book[placer]
	if !known {
		return nil, "", fmt.Errorf("networktest: the lab has no order %s", placer)
	}
	order, err := hl7.Parse(o.raw)
	if err != nil {
		return nil, "", err
	}
	l.sent++
	control = "R" + strconv.Itoa(l.sent)
	at := order.First("MSH").Get(7)
	m := hl7.New(hl7.UTF8, hl7.Fields{
		3: hl7.Text(WireApplication), 4: hl7.Text(WireFacility), 5: hl7.Text(WireCustomer), 7: hl7.Text(at),
		9: hl7.Text("ORU", "R01", "ORU_R01"), 10: hl7.Text(control), 11: hl7.Text(o.Processing), 12: hl7.Text("2.5.1"),
	})
	pid := order.First("PID")
	person := hl7.Fields{1: hl7.Text("1"), 5: hl7.Text(pid.Get(5), pid.Get(5, 2)), 7: hl7.Text(pid.Get(7)), 8: hl7.Text(pid.Get(8))}
	if damage != nil {
		damage(person)
	}
	m.Add("PID", person)
	for _, s := range order.Segments {
		if s.Name() != "OBR" {
			continue
		}
		code := s.Get(4)
		m.Add("OBR", hl7.Fields{1: hl7.Text(s.Get(1)), 2: hl7.Text(placer), 3: hl7.Text(o.Number), 4: hl7.Text(code, s.Get(4, 2), "L"), 7: hl7.Text(at), 22: hl7.Text(at), 25: hl7.Text(status)})
		for n, r := range l.Codes[code] {
			kind := "NM"
			if strings.ContainsAny(r.Value, "<>abcdefghijklmnopqrstuvwxyz") {
				kind = "ST"
			}
			m.Add("OBX", hl7.Fields{
				1: hl7.Text(strconv.Itoa(n + 1)), 2: hl7.Text(kind), 3: hl7.Text(r.Code, r.Name, "L", r.LOINC, r.Name, "LN"),
				5: hl7.Text(cmp.Or(value, r.Value)), 6: hl7.Text(r.Unit), 7: hl7.Text(r.Range), 11: hl7.Text(status),
			})
		}
	}
	raw, err = m.Emit()
	return raw, control, err
}
