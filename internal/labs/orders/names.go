package orders

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"hale/internal/platform/civil"
	"hale/internal/platform/store"
)

// names are what searches look at, folded.
type names struct {
	last, first, recipient string
	birth                  int32 // yyyymmdd; 0 for none
}

// sealNames seals what searches look at, apart from the rest of an order, so
// that a million of them are unsealed quickly: four lines with the patient's last
// name, first name and birth date and the recipient's name.
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

// parseNames parses what sealNames sealed.
func parseNames(lines []byte) (names, error) {
	parts := strings.SplitN(string(lines), "\n", 4)
	if len(parts) != 4 {
		return names{}, errors.New("orders: names that are not four lines")
	}
	n := names{last: parts[0], first: parts[1], recipient: parts[3]}
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
