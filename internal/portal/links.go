package portal

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// linkView is the page that a link opens.
type linkView struct {
	frame
	Intro    string
	Once     bool   // the link works once
	Page     string // secret of this very page, by which it is known when it is sent twice
	AsksDate bool   // this device is new
	Problem  string // what was wrong with the date
	Month    string // as it was typed
	Day      string
	Year     string
}

// showLink answers a link and changes nothing.
func (p *Portal) showLink(w http.ResponseWriter, r *http.Request) error {
	view, err := p.linkView(r)
	if err != nil {
		return err
	}
	p.render(w, http.StatusOK, linkPage, view)
	return nil
}

func (p *Portal) linkView(r *http.Request) (linkView, error) {
	ctx := store.AsSystem(r.Context()) // the token is the only scope
	var link users.PortalLink
	var team teams.Team
	var asks bool
	err := p.db.Read(ctx, func(tx *store.Tx) (err error) {
		if link, err = users.FindPortalLink(ctx, tx, tokenOf(r)); err != nil {
			return err
		}
		if team, err = teams.Get(ctx, tx, link.Team); err != nil {
			return err
		}
		asks, err = users.NeedsBirthDate(ctx, tx, link, p.cookies.device(r))
		return err
	})
	if err != nil {
		return linkView{}, err
	}
	t := textFor(r)
	return linkView{
		frame: frameFor(r, t.LinkTitle), Intro: fmt.Sprintf(t.LinkIntro, team.Name),
		Once: link.Context == users.Launch, Page: users.NewPage().Reveal(), AsksDate: asks,
	}, nil
}

func tokenOf(r *http.Request) secrets.Text { return secrets.Text(r.PathValue("token")) }

// largestForm is in bytes: four short fields.
const largestForm = 4 << 10

// useLink exchanges the link for a session and sends the browser on.
func (p *Portal) useLink(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, largestForm)
	if err := r.ParseForm(); err != nil {
		return errForeignForm
	}
	view, err := p.linkView(r)
	if errors.Is(err, users.ErrLinkGone) {
		return p.useAgain(w, r)
	}
	if err != nil {
		return err
	}
	var day *civil.Date
	if view.AsksDate {
		view.Month, view.Day, view.Year = r.PostForm.Get("month"), r.PostForm.Get("day"), r.PostForm.Get("year")
		if day = parseDay(view.Year, view.Month, view.Day); day == nil { // a slip of the finger is no try
			return p.refuse(w, view, view.Text.NotADate)
		}
	}
	ctx := store.AsSystem(r.Context())
	var entry users.Entry
	err = p.db.Write(ctx, func(tx *store.Tx) (err error) {
		entry, err = users.Enter(ctx, tx, tokenOf(r), p.cookies.device(r), pageOf(r), day)
		return err
	})
	switch {
	case errors.Is(err, users.ErrLinkGone): // by the same page, at the same time
		return p.useAgain(w, r)
	case err != nil:
		return err
	case entry.Wrong && entry.TriesLeft == 0:
		return users.ErrLinkGone
	case entry.Wrong && entry.TriesLeft == 1:
		return p.refuse(w, view, view.Text.WrongDateOne)
	case entry.Wrong:
		return p.refuse(w, view, fmt.Sprintf(view.Text.WrongDate, entry.TriesLeft))
	}
	p.cookies.setSession(w, entry.Session)
	if entry.Device != "" {
		p.cookies.setDevice(w, entry.Device)
	}
	to := homePath
	if entry.Order != nil {
		to = ordersPath + entry.Order.String()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

func pageOf(r *http.Request) secrets.Text { return secrets.Text(r.PostForm.Get("page")) }

// useAgain lets a person in who pressed the button twice.
func (p *Portal) useAgain(w http.ResponseWriter, r *http.Request) error {
	ctx := store.AsSystem(r.Context())
	var session secrets.Text
	err := p.db.Read(ctx, func(tx *store.Tx) (err error) {
		session, err = users.EnterAgain(ctx, tx, tokenOf(r), pageOf(r))
		return err
	})
	if err != nil {
		return err
	}
	p.cookies.setSession(w, session)
	http.Redirect(w, r, homePath, http.StatusSeeOther)
	return nil
}

// refuse shows the form again with what was wrong.
func (p *Portal) refuse(w http.ResponseWriter, view linkView, problem string) error {
	view.Problem = problem
	view.Title = view.Text.ErrorPrefix + view.Title
	p.render(w, http.StatusUnprocessableEntity, linkPage, view)
	return nil
}

// parseDay reads a date of birth as people type it: without leading zeros,
// with spaces around. Nil is no real date.
func parseDay(year, month, day string) *civil.Date {
	y, err1 := strconv.ParseUint(strings.TrimSpace(year), 10, 16)
	m, err2 := strconv.ParseUint(strings.TrimSpace(month), 10, 8)
	d, err3 := strconv.ParseUint(strings.TrimSpace(day), 10, 8)
	if errors.Join(err1, err2, err3) != nil {
		return nil
	}
	date, err := civil.ParseDate(fmt.Sprintf("%04d-%02d-%02d", y, m, d))
	if err != nil {
		return nil
	}
	return &date
}
