package orders

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/labclock"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Facts are the data of an order's document that are not in the order's row.
type Facts struct {
	Events      []Event
	Transaction Transaction
	Test        catalogue.Test
	Markers     []*catalogue.Marker
	Lab         catalogue.Lab

	signRequisition RequisitionSigner
}

// ReadFacts reads the facts of some orders of one team, in their order.
func ReadFacts(ctx context.Context, tx *store.Tx, team teams.ID, of []Order) ([]Facts, error) {
	if len(of) == 0 {
		return nil, nil
	}
	events, err := histories(ctx, tx, of)
	if err != nil {
		return nil, err
	}
	groups, err := transactionsOf(ctx, tx, of)
	if err != nil {
		return nil, err
	}
	offered, err := catalogue.Load(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	tests := map[catalogue.TestID]catalogue.Test{}
	all := make([]Facts, len(of))
	for i, o := range of {
		test, known := tests[o.LabTest]
		if !known {
			if test, err = catalogue.GetTest(ctx, tx, team, o.LabTest); err != nil {
				return nil, fmt.Errorf("orders: the lab test of %s: %w", o.ID, err)
			}
			tests[o.LabTest] = test
		}
		lab, _ := offered.Lab(o.Lab) // a lab that is no longer offered has only its id
		all[i] = Facts{events[o.ID], groups[o.Transaction], test, offered.MarkersOf(test), lab, requisitionSigner.Of(tx)}
	}
	return all, nil
}

// transactionsOf reads the transactions of some orders with all their members.
func transactionsOf(ctx context.Context, tx *store.Tx, of []Order) (map[TransactionID]Transaction, error) {
	all := map[TransactionID]Transaction{}
	var named []Order // each once: a page may have several orders of a transaction
	for _, o := range of {
		if _, known := all[o.Transaction]; !known {
			all[o.Transaction] = Transaction{}
			named = append(named, Order{Team: o.Team, ID: ID(o.Transaction)})
		}
	}
	err := forIDLists(named, func(team any, ids []any, list string) error {
		rows, err := tx.Query(ctx, `SELECT t.id, t.status, t.created_at, t.updated_at, `+memberColumnsOf("m")+` FROM order_transactions t
			JOIN orders m ON m.team_id = t.team_id AND m.transaction_id = t.id
			WHERE t.team_id = $1 AND t.id IN `+list+`
			ORDER BY t.id, m.id`, append([]any{team}, ids...)...)
		if err != nil {
			return fmt.Errorf("orders: reading transactions: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			t := Transaction{Team: of[0].Team}
			m, err := scanMember(rows, &t.ID, &t.Status, store.ScanTime(&t.CreatedAt), store.ScanTime(&t.UpdatedAt))
			if err != nil {
				return fmt.Errorf("orders: reading transactions: %w", err)
			}
			t.Members = all[t.ID].Members
			if n := len(t.Members); n == 0 || t.Members[n-1].ID != m.ID {
				t.Members = append(t.Members, m)
			}
			all[t.ID] = t
		}
		return rows.Err()
	})
	return all, err
}

// RequisitionSigner returns the link to an order's requisition form. now is the
// start of the link's lifetime.
type RequisitionSigner func(o *Order, now time.Time) string

var requisitionSigner = store.NewSlot[RequisitionSigner](nil)

// SignRequisitions sets the signer of a database. The app calls it before it
// serves requests. Without a signer, orders have no links.
func SignRequisitions(db *store.DB, sign RequisitionSigner) { requisitionSigner.Set(db, sign) }

// HasRequisition reports whether the order ever had a requisition. An imported
// order never has one.
//
// Reference 1.13, 1.14.
func HasRequisition(history []Event) bool {
	return slices.ContainsFunc(history, func(e Event) bool { return e.Status == RequisitionCreated })
}

func (f Facts) requisitionLink(o *Order, now time.Time) *string {
	if f.signRequisition == nil || o.SampleID == "" || !HasRequisition(f.Events) || o.Status.Stage(o.Method) == StageCancelled {
		return nil
	}
	link := f.signRequisition(o, now)
	return &link
}

// The types of order events.
//
// Reference 8.3.
const (
	CreatedEvent  = "labtest.order.created"
	UpdatedEvent  = "labtest.order.updated"
	CriticalEvent = "labtest.result.critical"
)

// announce emits the event of a change: the whole order with its lab test,
// without lab and markers. Events about a deleted user are sent until the grace
// period ends.
func announce(ctx context.Context, tx *store.Tx, c Change) error {
	kind := UpdatedEvent
	if c.New() {
		kind = CreatedEvent
	}
	return emit(ctx, tx, c.Order, kind)
}

// emit emits an event with the current state of the order. Webhooks have partial
// results only for teams that set partial_webhooks_enabled; the feed always has them.
func emit(ctx context.Context, tx *store.Tx, o *Order, kind string) error {
	e := events.New{Type: kind}
	if o.Status == PartialResults {
		team, err := teams.Get(ctx, tx, o.Team)
		if err != nil {
			return err
		}
		e.FeedOnly = !team.Settings.PartialWebhooks
	}
	facts, err := ReadFacts(ctx, tx, o.Team, []Order{*o})
	if err != nil {
		return err
	}
	return emitData(ctx, tx, o, e, DocumentOf(o, facts[0], labTestOf(facts[0].Test, facts[0].Markers), tx.Now()))
}

// emitData emits an event about an order, with a payload.
func emitData(ctx context.Context, tx *store.Tx, o *Order, e events.New, payload any) error {
	name, err := users.ClientUserID(ctx, tx, o.Team, o.User)
	if fault.Is(err, fault.NotFound) {
		return nil // the grace period is over: the user is being erased
	}
	if err != nil {
		return err
	}
	if e.Data, err = json.Marshal(payload); err != nil {
		return fmt.Errorf("orders: marshalling a %s: %w", e.Type, err)
	}
	e.Team, e.User, e.ClientUserID = o.Team.UUID(), o.User.UUID(), name
	_, err = events.Emit(ctx, tx, e)
	return err
}

// criticalData is the payload of labtest.result.critical.
type criticalData struct {
	OrderID        ID             `json:"order_id"`
	SampleID       string         `json:"sample_id"`
	Status         string         `json:"status"`
	Interpretation Interpretation `json:"interpretation"`
	TeamID         teams.ID       `json:"team_id"`
	UserID         users.ID       `json:"user_id"`
	CreatedAt      Instant        `json:"created_at"`
	UpdatedAt      Instant        `json:"updated_at"`
}

// AnnounceCritical emits the event of a critical result. resultStatus is final
// or partial. Call it in the transaction that stores the results.
//
// Reference 1.8.
func AnnounceCritical(ctx context.Context, tx *store.Tx, o *Order, resultStatus string) error {
	now, err := labclock.TimeOf(ctx, tx, o.Team)
	if err != nil {
		return err
	}
	return emitData(ctx, tx, o, events.New{Type: CriticalEvent}, criticalData{
		OrderID: o.ID, SampleID: o.SampleID, Status: resultStatus, Interpretation: Critical,
		TeamID: o.Team, UserID: o.User, CreatedAt: Instant(o.CreatedAt), UpdatedAt: Instant(now),
	})
}

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	example := func(user uuid.UUID) json.RawMessage {
		o, facts := exampleOrder(users.ID(user))
		doc, err := json.Marshal(DocumentOf(&o, facts, labTestOf(facts.Test, nil), o.CreatedAt))
		if err != nil {
			panic(err) // plain structs
		}
		return doc
	}
	return []events.Type{
		{Name: CreatedEvent, Sentence: "A lab order was placed.", Example: example},
		{Name: UpdatedEvent, Sentence: "A lab order changed: its status, or another field.", Example: example},
		{Name: CriticalEvent, Sentence: "A result is critical and needs attention now.", Example: func(user uuid.UUID) json.RawMessage {
			at := Instant(exampleTime)
			doc, err := json.Marshal(criticalData{
				OrderID: ID(exampleID(5)), SampleID: "S-1", Status: "final", Interpretation: Critical,
				TeamID: teams.ID(exampleID(6)), UserID: users.ID(user), CreatedAt: at, UpdatedAt: at,
			})
			if err != nil {
				panic(err) // a plain struct
			}
			return doc
		}},
	}
}

var exampleTime = time.Date(2026, 3, 5, 8, 0, 0, 0, time.UTC)

func exampleID(n byte) uuid.UUID {
	id := uuid.MustParse("00000000-0000-4000-8000-000000000000")
	id[15] = n
	return id
}

// exampleOrder returns an invented order.
func exampleOrder(user users.ID) (Order, Facts) {
	o := Order{
		ID: ID(exampleID(5)), Team: teams.ID(exampleID(6)), User: user, Transaction: TransactionID(exampleID(7)), Origin: Initial,
		LabTest: catalogue.TestID(exampleID(8)), Method: catalogue.WalkIn, Status: Ordered, StatusAt: exampleTime,
		CreatedAt: exampleTime, UpdatedAt: exampleTime, Billing: catalogue.ClientBill, Details: exampleID(9), SMSEnabled: true,
		Body: Body{
			Patient: &Patient{FirstName: "Ada", LastName: "Example", BirthDate: civil.MustParse("1990-01-02"), Gender: "female", PhoneNumber: "+14155550132", Email: "ada@example.org"},
		},
	}
	o.Body.Address = &Address{Receiver: "Ada Example"}
	o.Body.Address.FirstLine, o.Body.Address.City, o.Body.Address.State = "1 Example Street", "Phoenix", "AZ"
	o.Body.Address.Zip, o.Body.Address.Country = "85004", "US"
	member := Member{ID: o.ID, User: o.User, Origin: Initial, Method: o.Method, Status: Ordered, StatusAt: exampleTime, CreatedAt: exampleTime, UpdatedAt: exampleTime}
	return o, Facts{
		Events:      []Event{{ID: 1, Status: Ordered, CreatedAt: exampleTime}},
		Transaction: Transaction{ID: o.Transaction, Team: o.Team, Status: TransactionActive, Members: []Member{member}},
		Test: catalogue.Test{
			ID: o.LabTest, Slug: "example-panel", Name: "Example panel", Method: catalogue.WalkIn, SampleType: catalogue.Serum, ApprovedAt: &exampleTime,
		},
	}
}
