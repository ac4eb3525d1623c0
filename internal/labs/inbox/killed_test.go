package inbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/results"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/jobs"
	"hale/internal/platform/jobs/jobstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// The test below sends this many messages and kills the receiving process this
// many times. make crash sends 10,000.
var (
	killedMessages = flag.Int("messages", 90, "messages of TestResultsSurviveKills")
	killedTimes    = flag.Int("kills", 4, "kills of TestResultsSurviveKills")
)

// These environment variables make a test process the receiver. They name the
// data folder, and the address of a PostgreSQL database.
const (
	receiverDir = "HALE_TEST_RECEIVER"
	receiverURL = "HALE_TEST_RECEIVER_URL"
)

// sentMessage is one of many messages: a report about the person and
// order with the number Of. Its value names them: person*1000000 + number.
type sentMessage struct {
	Key     string
	Report  networks.Report
	Of      int
	Damaged string // empty for a report with the identity of its order
}

// perOrder is the number of messages about one order.
const perOrder = 5

// Results arrive while the receiving process is killed again and again. A third
// of the messages are damaged in identity: another person's name, birth date or
// sex, a twin's, a missing part, or another order's number. Every message that
// was acknowledged is handled, every damaged one waits for review, and no value
// is attached to the wrong order.
func TestResultsSurviveKills(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		var letters []sentMessage
		var people []orders.Order
		if !t.Run("orders", func(t *testing.T) { people, letters = writeLetters(t, d.Open(t, nil)) }) {
			return
		}
		waiting := letters
		kills := 0
		for ; kills < *killedTimes; kills++ {
			sent := min(len(waiting), max(1, len(letters)/(*killedTimes+1)+rand.IntN(9)-4))
			waiting = receive(t, d, waiting, sent)
		}
		if waiting = receive(t, d, waiting, -1); len(waiting) > 0 {
			t.Fatalf("%d messages were not acknowledged", len(waiting))
		}
		t.Run("outcome", func(t *testing.T) {
			db := d.Open(t, nil)
			checkReports(t, db, people, letters)
			checkValues(t, db, people)
		})
		t.Logf("%d messages, %d orders, %d kills", len(letters), len(people), kills)
	})
}

// writeLetters creates the orders, two and two of twins, and the messages about
// them, in a random order.
func writeLetters(t *testing.T, db *store.DB) (people []orders.Order, letters []sentMessage) {
	t.Helper()
	team := orderstest.Team(t, db).ID
	user, test := orderstest.User(t, db, team), orderstest.Test(t, db, team, catalogue.WalkIn)
	ask := orderstest.Request(t, db, user, test)
	for n := range (*killedMessages + perOrder - 1) / perOrder {
		p := orderstest.Patient()
		p.FirstName, p.LastName = nameOf(n), "Twin"+nameOf(n/2) // two and two share last name, birth date and sex
		p.BirthDate = civil.MustParse("1950-01-01").AddDays(n / 2)
		one := ask
		one.User, one.Patient = userstest.New(t, db, team, users.NewUser{}).ID, p
		var o orders.Order
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			o, err = orders.Create(ctx, tx, team, one)
			return err
		})
		orderstest.MoveTo(t, db, &o, orders.RequisitionCreated)
		people = append(people, o)
	}
	var lab string
	var expected catalogue.Result
	var marker string
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		facts, err := orders.ReadFacts(ctx, tx, team, people[:1])
		if err == nil {
			lab, marker, expected = facts[0].Lab.Slug, facts[0].Markers[0].ProviderID, facts[0].Markers[0].Results[0]
		}
		return err
	})
	for i := range *killedMessages {
		l := sentMessage{Key: fmt.Sprintf("letter-%d", i), Of: i % len(people)}
		o := &people[l.Of]
		p := o.Body.Patient
		l.Report = networks.Report{
			Placer: o.ID.String(), SampleID: o.SampleID, Lab: lab, At: o.CreatedAt.Add(time.Duration(i) * time.Second),
			Patient: networks.ReportedPatient{FirstName: p.FirstName, LastName: p.LastName, DOB: p.BirthDate, Gender: "F"},
		}
		if i%3 == 2 {
			damage(&l, people)
		}
		l.Report.Results = &networks.ResultSet{Results: []networks.Result{{
			ProviderID: expected.ProviderID, TestProviderID: marker, Name: expected.Name, Unit: "1", Status: "F",
			Value: strconv.Itoa(l.Of*1_000_000 + i),
		}}}
		letters = append(letters, l)
	}
	rand.Shuffle(len(letters), func(a, b int) { letters[a], letters[b] = letters[b], letters[a] })
	return people, letters
}

// nameOf returns a name of four letters that is unique for a number.
func nameOf(n int) string {
	name := []byte("Aaaa")
	for i := 3; i >= 0; i-- {
		name[i] += byte(n % 26)
		n /= 26
	}
	return string(name)
}

// damage changes the identity on a report. The value stays that of the patient
// with the number Of.
func damage(l *sentMessage, people []orders.Order) {
	p, mine := &l.Report.Patient, l.Of
	damages := map[string]func(){
		"twin":             func() { p.FirstName = people[twinOf(mine, len(people))].Body.Patient.FirstName },
		"letter":           func() { p.FirstName = p.FirstName[:1] + "zz" + p.FirstName[2:] },
		"last name":        func() { p.LastName += "son" },
		"no first name":    func() { p.FirstName = "" },
		"no last name":     func() { p.LastName = `""` },
		"no birth date":    func() { p.DOB = civil.Date{} },
		"birth date":       func() { p.DOB = p.DOB.AddDays(1) },
		"sex":              func() { p.Gender = "M" },
		"names turned":     func() { p.FirstName, p.LastName = p.LastName, p.FirstName },
		"no identity":      func() { *p = networks.ReportedPatient{} },
		"number of twin":   func() { renumber(l, &people[twinOf(mine, len(people))]) },
		"number of other":  func() { renumber(l, &people[(mine+len(people)/2+1)%len(people)]) },
		"number unknown":   func() { l.Report.Placer, l.Report.SampleID = "unknown", "unknown-"+l.Key },
		"another lab":      func() { l.Report.Lab = "no-such-lab" },
		"sample of a twin": func() { l.Report.Placer, l.Report.SampleID = "", people[twinOf(mine, len(people))].SampleID },
	}
	names := make([]string, 0, len(damages))
	for name := range damages {
		names = append(names, name)
	}
	l.Damaged = names[rand.IntN(len(names))]
	damages[l.Damaged]()
}

func twinOf(n, people int) int {
	if twin := n ^ 1; twin < people {
		return twin
	}
	return n - 1
}

func renumber(l *sentMessage, o *orders.Order) {
	l.Report.Placer, l.Report.SampleID = o.ID.String(), o.SampleID
}

// receive starts a receiving process and sends it messages. It kills the process
// after a number of acknowledgements, or with -1 lets it finish its work. It
// returns the messages without an acknowledgement.
func receive(t *testing.T, d storetest.Database, letters []sentMessage, kill int) []sentMessage {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReceiver$", "-test.v=false")
	command.Env = append(os.Environ(), receiverDir+"="+d.Dir, receiverURL+"="+d.URL)
	command.Stderr = os.Stderr
	in, err1 := command.StdinPipe()
	out, err2 := command.StdoutPipe()
	if err := errors.Join(err1, err2, command.Start()); err != nil {
		t.Fatal(err)
	}
	go func() {
		encoder := json.NewEncoder(in)
		for _, l := range letters {
			if encoder.Encode(l) != nil {
				return // the process was killed
			}
		}
		_ = in.Close()
	}()
	acknowledged := map[string]bool{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		key, ok := strings.CutPrefix(lines.Text(), "stored ")
		if !ok {
			continue
		}
		if acknowledged[key] = true; kill >= 0 && len(acknowledged) >= kill {
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	for lines.Scan() { // acknowledged before the kill
		if key, ok := strings.CutPrefix(lines.Text(), "stored "); ok {
			acknowledged[key] = true
		}
	}
	if err := command.Wait(); err != nil && kill < 0 {
		t.Fatalf("the receiver: %v", err)
	}
	var rest []sentMessage
	for _, l := range letters {
		if !acknowledged[l.Key] {
			rest = append(rest, l)
		}
	}
	return rest
}

// keepResults passes results to their package, as the app does.
type keepResults struct{}

func (keepResults) TakeResults(ctx context.Context, tx *store.Tx, o *orders.Order, a inbox.Arrival) error {
	r := a.Report
	return results.Take(ctx, tx, o, results.Arrival{Key: a.Key, At: r.At, SampleID: r.SampleID, Account: r.Account, Patient: r.Patient, Set: *r.Results})
}

// TestReceiver runs in the receiving process of TestResultsSurviveKills. It stores each
// message of its standard input, answers with its key, and handles them all at the same
// time. At the end of its input it finishes its work.
func TestReceiver(t *testing.T) {
	dir := os.Getenv(receiverDir)
	if dir == "" {
		t.Skip("a part of TestResultsSurviveKills")
	}
	db := storetest.Database{URL: os.Getenv(receiverURL), Dir: dir}.Open(t, nil)
	log := slog.New(slog.DiscardHandler)
	queue := &matching.Queue{Log: log, Orders: orders.NewIndex()}
	in := &inbox.Service{DB: db, Log: log, Handlers: inbox.Handlers{Results: keepResults{}, Unmatched: queue}}
	system := store.AsSystem(context.Background())
	node, err := jobs.Join(system, db, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	loop := jobstest.NewLoop(jobs.NewRunner(db, jobs.Config{Node: node, Log: log, Kinds: append(queue.Jobs(), in.Job())}).Run)
	loop.Start(system)
	for decoder := json.NewDecoder(os.Stdin); ; {
		var l sentMessage
		if err := decoder.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if err := in.Put(system, networks.Message{Network: orders.SandboxNetwork, Key: l.Key, Raw: []byte(l.Key), Reports: []networks.Report{l.Report}}); err != nil {
			t.Fatal(err)
		}
		fmt.Println("stored " + l.Key)
	}
	for left := -1; left != 0; time.Sleep(20 * time.Millisecond) {
		err := db.Read(system, func(tx *store.Tx) error {
			return tx.QueryRow(system, `SELECT COUNT(*) FROM jobs WHERE kind IN ('inbox.handle', 'matching.match') AND status IN ('queued', 'running')`).Scan(&left)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(loop.Stop(system), node.Stop(system)); err != nil {
		t.Fatal(err)
	}
}

// checkReports checks that each message is handled once: applied to its order,
// or kept for review when its identity is damaged.
func checkReports(t *testing.T, db *store.DB, people []orders.Order, letters []sentMessage) {
	t.Helper()
	type outcome struct {
		state string
		order orders.ID
		n     int
	}
	all := map[string]outcome{}
	var review, automatic, without int
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT m.key, r.state, r.order_id FROM inbox_reports r JOIN inbox_messages m ON m.id = r.message_id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var key string
			var o outcome
			if err := rows.Scan(&key, &o.state, &o.order); err != nil {
				return err
			}
			o.n = all[key].n + 1
			all[key] = o
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		return errors.Join(
			tx.QueryRow(ctx, `SELECT COUNT(*) FROM unmatched_results WHERE status = 'pending_customer_review'`).Scan(&review),
			tx.QueryRow(ctx, `SELECT COUNT(*) FROM unmatched_results WHERE status <> 'pending_customer_review'`).Scan(&automatic),
			tx.QueryRow(ctx, `SELECT COUNT(*) FROM unassigned_results WHERE state = 'waiting'`).Scan(&without),
		)
	})
	damaged, wrong := 0, 0
	for _, l := range letters {
		got, want := all[l.Key], outcome{"applied", people[l.Of].ID, 1}
		if l.Damaged != "" {
			damaged++
			want = outcome{"unmatched", orders.ID{}, 1}
		}
		if got != want {
			if wrong++; wrong <= 10 {
				t.Errorf("%s (%q): %+v, want %+v", l.Key, l.Damaged, got, want)
			}
		}
	}
	if review+without != damaged || automatic != 0 {
		t.Errorf("%d damaged reports: %d wait for review, %d have no team, %d are neither", damaged, review, without, automatic)
	}
	t.Logf("%d of %d messages are damaged: %d wait for review, %d have no team; %d have the wrong outcome", damaged, len(letters), review, without, wrong)
}

// checkValues checks that every value in every revision of an order is a value
// of its own patient.
func checkValues(t *testing.T, db *store.DB, people []orders.Order) {
	t.Helper()
	ctx := store.WithTeam(t.Context(), teams.ID(people[0].Team).UUID())
	values, wrong := 0, 0
	for n := range people {
		err := db.Read(ctx, func(tx *store.Tx) error {
			all, err := results.History(ctx, tx, &people[n])
			if err != nil {
				return err
			}
			for _, s := range all {
				r, err := results.Get(ctx, tx, &people[n], s.Number)
				if err != nil {
					return err
				}
				for _, one := range r.Results {
					values++
					if one.Number == nil || int(*one.Number)/1_000_000 != n {
						wrong++
						t.Errorf("order %d has the value %s", n, one.Text)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if values == 0 {
		t.Error("no order has a value")
	}
	t.Logf("%d values in the revisions of %d orders, %d at the wrong order", values, len(people), wrong)
}
