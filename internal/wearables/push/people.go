package push

import (
	"errors"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
)

// MostPeople is how many users one body may speak of.
const MostPeople = 1000

// People is a pushed batch of several users.
type People struct {
	Head
	Each []Person
}

// Person is what it says of one of them.
type Person struct {
	User uuid.UUID
	*Series
	// Text is the same as if it had been sent for this user alone.
	Text []byte
}

// ParsePeople reads a pushed body of several people: who gathers for many sends
// one request for all of them. Each entry of users is a body of series that
// leaves out what is said for all: stage, provider, time zone and source. The
// last two may be its own.
func ParsePeople(data []byte) (*People, error) {
	p := peopleParser{scanner: scanner{b: data, index: -1}}
	if err := p.whole(p.member); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	all := People{Head: p.head}
	s := scanner{b: p.users, index: -1, field: "users"}
	left, seen := MostSamples, map[uuid.UUID]bool{}
	err := s.list(func(i int) error {
		if i == MostPeople {
			return fault.Newf(fault.TooLarge, "a batch has at most %d users", MostPeople).At("body", "users")
		}
		one, err := p.person(&s, i)
		if err != nil {
			return err
		}
		if left -= one.Count; left < 0 {
			return fault.Newf(fault.TooLarge, "a batch has at most %d samples", MostSamples).At("body", "users")
		}
		if seen[one.User] {
			return fault.New(fault.Invalid, "Value error, this user stands there twice").At("body", "users", strconv.Itoa(i), "user_id")
		}
		seen[one.User] = true
		all.Each = append(all.Each, one)
		return nil
	})
	return &all, err
}

type peopleParser struct {
	scanner
	head   Head
	shared entry  // as text
	users  []byte // the list
}

// entry is the members of a body of series, as text; nil where absent or null.
type entry struct{ stage, provider, zone, source, series []byte }

func (p *peopleParser) member(key []byte) (err error) {
	switch string(key) {
	case "users":
		p.users, err = p.raw()
		return err
	case "source":
		p.shared.source, err = p.raw()
		return err
	}
	from := p.pos
	known, err := p.headMember(&p.head, key)
	if err != nil || !known {
		if err == nil {
			err = p.skip(0)
		}
		return err
	}
	text := p.b[from:p.pos]
	switch string(key) {
	case "stage":
		p.shared.stage = text
	case "provider":
		p.shared.provider = text
	case "time_zone", "timeZone":
		p.shared.zone = text
	}
	return nil
}

// check wants what is said for all of them. History is a user's own: its end is
// announced to each.
func (p *peopleParser) check() error {
	if err := p.head.check("users", p.users != nil); err != nil {
		return err
	}
	if p.head.Stage != wearables.Daily {
		return fault.New(fault.Invalid, "Value error, history is pushed for one user at a time").At("body", "stage")
	}
	alone := p.shared
	alone.series = []byte("{}")
	_, err := ParseSeries(alone.text())
	return err
}

// person reads one entry of the list.
func (p *peopleParser) person(s *scanner, i int) (Person, error) {
	at := []string{"users", strconv.Itoa(i)}
	s.within, s.field = at, ""
	own := p.shared
	var id []byte
	err := s.object(func(key []byte) (err error) {
		var text []byte
		switch name := string(key); name {
		case "user_id", "time_zone", "timeZone", "source", "series":
			if text, err = s.raw(); err != nil || text == nil {
				return err
			}
			switch name {
			case "user_id":
				id = text
			case "source":
				own.source = text
			case "series":
				own.series = text
			default:
				own.zone = text
			}
			return nil
		}
		return s.skip(0)
	})
	if err != nil {
		return Person{}, err
	}
	one := Person{Text: own.text()}
	if one.User, err = userID(id); err == nil {
		one.Series, err = ParseSeries(one.Text)
	}
	return one, placed(err, at)
}

func userID(text []byte) (uuid.UUID, error) {
	if text == nil {
		return uuid.Nil, fault.New(fault.Invalid, "Field required").At("body", "user_id").WithType("missing")
	}
	if len(text) == 2+36 && text[0] == '"' {
		if id, err := uuid.ParseBytes(text[1:37]); err == nil {
			return id, nil
		}
	}
	return uuid.Nil, fault.New(fault.Invalid, "Input should be a valid UUID").At("body", "user_id").WithType("uuid_parsing")
}

// placed is a fault about a body within another one.
func placed(err error, at []string) error {
	move := func(e *fault.Error) {
		if loc := e.Loc(); len(loc) > 0 && loc[0] == "body" {
			_ = e.At(slices.Concat([]string{"body"}, at, loc[1:])...)
		}
	}
	var list fault.List
	var one *fault.Error
	switch {
	case errors.As(err, &list):
		for _, e := range list {
			move(e)
		}
	case errors.As(err, &one):
		move(one)
	}
	return err
}

// text is the entry as a body of its own.
func (e *entry) text() []byte {
	parts := []struct {
		name string
		text []byte
	}{{"stage", e.stage}, {"provider", e.provider}, {"time_zone", e.zone}, {"source", e.source}, {"series", e.series}}
	n := 0
	for _, part := range parts {
		n += len(part.name) + len(part.text) + len(`,"":`)
	}
	body := append(make([]byte, 0, n+1), '{')
	for _, part := range parts {
		if part.text == nil {
			continue
		}
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = append(append(append(body, '"'), part.name...), `":`...)
		body = append(body, part.text...)
	}
	return append(body, '}')
}

// raw is the text of the next value; nil for null.
func (s *scanner) raw() ([]byte, error) {
	null, err := s.null()
	if null || err != nil {
		return nil, err
	}
	from := s.pos
	if err := s.skip(0); err != nil {
		return nil, err
	}
	return s.b[from:s.pos], nil
}
