package orders

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// SortKey is the sort key of a list.
type SortKey string

// The sort keys.
const (
	ByCreation    SortKey = "created_at"
	ByPatientName SortKey = "patient_name" // last name, first name
	ByLastStatus  SortKey = "last_status"  // by event string
	ByUpdate      SortKey = "updated_at"
)

// SortKeys lists all keys.
var SortKeys = []SortKey{ByCreation, ByPatientName, ByLastStatus, ByUpdate}

// Activation distinguishes orders whose activate_by has come from later ones.
type Activation string

// The activations.
const (
	CurrentOrders   Activation = "current"
	ScheduledOrders Activation = "scheduled"
)

// Activations lists all activations.
var Activations = []Activation{CurrentOrders, ScheduledOrders}

// Span is a period that includes both ends; nil is no limit.
type Span struct{ From, To *time.Time }

// Filter selects orders; empty fields select all.
//
// Spec: Lab lookups, GET /v3/orders.
type Filter struct {
	Search          string // order id, user id, number of the lab, patient, birth date, recipient
	PatientName     string
	BirthDate       civil.Date // of the patient; zero for any
	Recipient       string
	Created         Span
	Updated         Span
	Statuses        []Status // any when empty, as for the other lists
	Methods         []Method
	Critical        *bool
	Interpretations []Interpretation
	Activations     []Activation
	Users           []users.ID
	IDs             []ID
	Transactions    []TransactionID

	Key       SortKey // ByCreation if empty
	Ascending bool
	Page      int // from 1
	Size      int
	After     *Cursor // instead of a page
}

// Page is one page of a team's orders.
type Page struct {
	Orders []Order
	Total  int     // of all pages
	Next   *Cursor // of the next page; nil at the end
}

// List returns one page of a team's orders. The transaction must be read-only.
func (x *Index) List(ctx context.Context, tx *store.Tx, team teams.ID, f Filter) (Page, error) {
	for _, user := range f.Users {
		// Orders are served until the grace period of a deleted user ends.
		_, err := users.ClientUserID(ctx, tx, team, user)
		if fault.Is(err, fault.NotFound) {
			err = fault.New(fault.NotFound, "User does not exist on this team")
		}
		if err != nil {
			return Page{}, err
		}
	}
	found, err := x.Select(ctx, tx, team, f)
	if err != nil {
		return Page{}, err
	}
	all, err := byIDs(ctx, tx, team, found.IDs)
	return Page{all, found.Total, found.Next}, err
}

// byIDOnly is the team condition of a query by ids. With the bare column, SQLite
// would use an index with all orders of the team, because it estimates that a
// team has ten.
const byIDOnly = `COALESCE(team_id, team_id)`

// byIDs reads orders in the order of their ids. It omits orders that were erased
// meanwhile.
func byIDs(ctx context.Context, tx *store.Tx, team teams.ID, ids []ID) ([]Order, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	named := make([]Order, len(ids))
	for i, id := range ids {
		named[i] = Order{Team: team, ID: id}
	}
	read := map[ID]Order{}
	err := forIDLists(named, func(team any, list []any, in string) error {
		found, err := selectOrders(ctx, tx, `SELECT `+columns+` FROM orders WHERE `+byIDOnly+` = $1 AND id IN `+in, append([]any{team}, list...)...)
		for _, o := range found {
			read[o.ID] = o
		}
		return err
	})
	all := make([]Order, 0, len(ids))
	for _, id := range ids {
		if o, ok := read[id]; ok {
			all = append(all, o)
		}
	}
	return all, err
}

// searchNames are the folded texts that searches compare.
type searchNames struct {
	last, first, recipient string
	birth                  int32 // yyyymmdd; 0 for none
}

// sealNames seals the searchable texts, separate from the rest of an order, so
// that a million of them can be unsealed quickly. It has four lines: the
// patient's last name, first name and birth date, and the recipient's name.
func sealNames(ctx context.Context, tx *store.Tx, o *Order) ([]byte, error) {
	var lines [4]string
	if p := o.Body.Patient; p != nil {
		lines[0], lines[1], lines[2] = Fold(p.LastName), Fold(p.FirstName), p.BirthDate.String()
	}
	for _, a := range []*Address{o.Body.Shipping, o.Body.Address} {
		if a != nil && lines[3] == "" {
			lines[3] = Fold(a.Receiver)
		}
	}
	return tx.Seal(ctx, o.Team.UUID(), o.User.UUID(), namesPlace+o.ID.String(), []byte(strings.Join(lines[:], "\n")))
}

// parseNames parses the output of sealNames.
func parseNames(lines []byte) (searchNames, error) {
	parts := strings.SplitN(string(lines), "\n", 4)
	if len(parts) != 4 {
		return searchNames{}, errors.New("orders: names that are not four lines")
	}
	n := searchNames{last: parts[0], first: parts[1], recipient: parts[3]}
	if day, err := civil.ParseDate(parts[2]); err == nil {
		n.birth = dayNumber(day)
	}
	return n, nil
}

// Fold prepares a name for comparison: lower case, no accents or commas, words
// separated by single spaces.
func Fold(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == ',':
			return ' '
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(name))
	return strings.Join(strings.Fields(plain), " ")
}
