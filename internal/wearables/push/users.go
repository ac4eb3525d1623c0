package push

import (
	"errors"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
)

// MostUsers bounds the users of one body.
const MostUsers = 1000

// Users is a pushed batch of several users.
type Users struct {
	Head
	Each []UserPart
}

// UserPart is the part of one user.
type UserPart struct {
	User uuid.UUID
	*Series
	// Text is the part as a body of its own.
	Text []byte
}

// ParseUsers parses a pushed body of several users, as a hub sends it. Each entry of
// users is a body of series without the fields of the whole body: stage, provider, time
// zone and source. The last two may differ by user.
func ParseUsers(data []byte) (*Users, error) {
	p := usersParser{scanner: scanner{b: data, index: -1}}
	if err := p.whole(p.member); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	all := Users{Head: p.head}
	s := scanner{b: p.users, index: -1, field: "users"}
	left, seen := MostSamples, map[uuid.UUID]bool{}
	err := s.list(func(i int) error {
		if i == MostUsers {
			return fault.Newf(fault.TooLarge, "a batch has at most %d users", MostUsers).At("body", "users")
		}
		one, err := p.user(&s, i)
		if err != nil {
			return err
		}
		if left -= one.Count; left < 0 {
			return fault.Newf(fault.TooLarge, "a batch has at most %d samples", MostSamples).At("body", "users")
		}
		if seen[one.User] {
			return fault.New(fault.Invalid, "Value error, this user occurs twice").At("body", "users", strconv.Itoa(i), "user_id")
		}
		seen[one.User] = true
		all.Each = append(all.Each, one)
		return nil
	})
	return &all, err
}

type usersParser struct {
	scanner
	head   Head
	shared entry  // as text
	users  []byte // the list
}

// entry holds the members of a body of series, as text; nil if absent or null.
type entry struct{ stage, provider, zone, source, series []byte }

func (p *usersParser) member(key []byte) (err error) {
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

// check checks the fields of the whole body. History is pushed for one user at a time.
func (p *usersParser) check() error {
	if err := p.head.check("users", p.users != nil); err != nil {
		return err
	}
	if len(p.head.Deleted) > 0 {
		return errDeletedOfSeveral().At("body", "deleted")
	}
	if p.head.Stage != wearables.Daily {
		return fault.New(fault.Invalid, "Value error, history is pushed for one user at a time").At("body", "stage")
	}
	alone := p.shared
	alone.series = []byte("{}")
	_, err := ParseSeries(alone.text())
	return err
}

func errDeletedOfSeveral() *fault.Error {
	return fault.New(fault.Invalid, "Value error, deletions are pushed for one user at a time")
}

// user parses one entry of the list.
func (p *usersParser) user(s *scanner, i int) (UserPart, error) {
	at := []string{"users", strconv.Itoa(i)}
	s.within, s.field = at, ""
	own := p.shared
	var id []byte
	err := s.object(func(key []byte) (err error) {
		var text []byte
		switch name := string(key); name {
		case "deleted":
			if text, err = s.raw(); err != nil || text == nil {
				return err
			}
			some, err := ParseDeleted(text)
			if err == nil && len(some) > 0 {
				err = errDeletedOfSeveral().At("body", "deleted")
			}
			return prefixFault(err, at)
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
		return UserPart{}, err
	}
	one := UserPart{Text: own.text()}
	if one.User, err = userID(id); err == nil {
		one.Series, _, err = parseSeries(one.Text) // users do not depend on each other
	}
	return one, prefixFault(err, at)
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

// prefixFault adds the location of a part to a fault about it.
func prefixFault(err error, at []string) error {
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

// text returns the entry as a body of its own.
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

// raw returns the text of the next value; nil for null.
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
