package portal

import (
	"errors"
	"fmt"
	"net/http"

	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// visitor is a link, and what is known about the browser that opened it.
type visitor struct {
	link    users.PortalLink
	team    teams.Team
	known   bool       // the device needs no check
	info    users.Info // empty for a known device
	methods []users.CheckMethod
	usable  bool // the last code can still be entered
	// birthDateOver reports that the person's tries of the date of birth are used up.
	birthDateOver bool
}

// linkView is the page that a link opens.
type linkView struct {
	frame
	Intro   string
	Once    bool   // the link works once
	Page    string // secret of this page, for users.EnterAgain
	Problem string
	Notice  string

	Check   bool         // a new device
	Methods []methodView // to choose from, if there are several
	Only    *methodView  // the only one
	Help    string
}

type methodView struct {
	Method   users.CheckMethod
	Label    string
	SendCode bool
}

// showLink shows the page that the link opens. It changes nothing.
func (p *Portal) showLink(w http.ResponseWriter, r *http.Request) error {
	v, err := p.visitor(r)
	if err != nil {
		return err
	}
	return p.renderLink(w, r, v, http.StatusOK, "")
}

// visitor reads the link of the request's path.
func (p *Portal) visitor(r *http.Request) (v visitor, err error) {
	ctx := store.AsSystem(r.Context()) // the token is the only scope
	token := tokenOf(r)
	err = p.db.Read(ctx, func(tx *store.Tx) (err error) {
		if v.link, err = users.FindPortalLink(ctx, tx, token); err != nil {
			return err
		}
		if v.team, err = teams.Get(ctx, tx, v.link.Team); err != nil {
			return err
		}
		v.known, err = users.KnowsDevice(ctx, tx, v.link, p.cookies.device(r, token))
		if err != nil || v.known {
			return err
		}
		v.usable = v.link.Code.Usable(tx.Now())
		if v.team.Settings.PortalBirthDate {
			if v.birthDateOver, err = users.BirthDateUsedUp(ctx, tx, v.link); err != nil {
				return err
			}
		}
		v.info, err = users.LatestInfo(ctx, tx, v.link.Team, v.link.User)
		if fault.Is(err, fault.NotFound) {
			return users.ErrLinkGone
		}
		return err
	})
	v.methods = p.methods(v)
	return v, err
}

// methods returns the ways in which this person can be checked.
func (p *Portal) methods(v visitor) (all []users.CheckMethod) {
	if v.known {
		return nil
	}
	if v.info.PhoneNumber != "" && p.messages.Carries(v.team.Environment, messages.SMS) {
		all = append(all, users.CodeBySMS)
	}
	if v.info.Email != "" && p.messages.Carries(v.team.Environment, messages.Email) {
		all = append(all, users.CodeByEmail)
	}
	if v.team.Settings.PortalBirthDate && !v.birthDateOver {
		all = append(all, users.ByDateOfBirth)
	}
	return all
}

// renderLink renders the page that the link opens. problem is empty for none.
func (p *Portal) renderLink(w http.ResponseWriter, r *http.Request, v visitor, status int, problem string) error {
	t := textFor(r)
	if !v.known && len(v.methods) == 0 {
		message := t.NoCheck
		if v.birthDateOver {
			message = t.NoCheckLeft
		}
		return p.renderMessage(w, r, http.StatusForbidden, message.with(v.team.Name))
	}
	view := linkView{
		frame: frameFor(r, t.LinkTitle), Intro: fmt.Sprintf(t.LinkIntro, v.team.Name), Problem: problem, Check: !v.known,
		Once: v.link.Context == users.Launch, Page: users.NewPage().Reveal(), Help: fmt.Sprintf(t.CheckHelp, v.team.Name),
	}
	if v.birthDateOver {
		view.Notice = t.BirthDateOver
	}
	switch len(v.methods) {
	case 0:
	case 1: // the only method needs no choice
		only := v.methodView(v.methods[0], t.OnlyMethod)
		view.Only, view.Problem = &only, ""
	default:
		for _, m := range v.methods {
			view.Methods = append(view.Methods, v.methodView(m, t.Method))
		}
	}
	if view.Problem != "" {
		view.Title = t.ErrorPrefix + view.Title
	}
	p.render(w, status, linkPage, view)
	return nil
}

func (v *visitor) methodView(m users.CheckMethod, labels map[users.CheckMethod]string) methodView {
	view := methodView{Method: m, Label: labels[m], SendCode: m != users.ByDateOfBirth}
	if view.SendCode {
		view.Label = fmt.Sprintf(view.Label, v.masked(m))
	}
	return view
}

func tokenOf(r *http.Request) secrets.Text { return secrets.Text(r.PathValue("token")) }

// largestForm is in bytes: a few short fields.
const largestForm = 4 << 10

func parseForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, largestForm)
	err := r.ParseForm()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return errFormTooLarge
	case err != nil:
		return errForeignForm
	}
	return nil
}

// useLink handles the button of the page that the link opens. A known device is
// signed in. For a new device it starts the check.
func (p *Portal) useLink(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(w, r); err != nil {
		return err
	}
	v, err := p.visitor(r)
	switch {
	case errors.Is(err, users.ErrLinkGone):
		return p.enterAgain(w, r, err)
	case err != nil:
		return err
	case !v.known:
		return p.startCheck(w, r, v)
	}
	entry, err := p.enter(r, users.Proof{})
	switch {
	case errors.Is(err, users.ErrLinkGone): // the same page was sent twice at the same time
		return p.enterAgain(w, r, err)
	case err != nil:
		return err
	case entry.Refusal != "": // the device's cookie has just expired
		return p.showLink(w, r)
	}
	p.admit(w, r, entry)
	return nil
}

func (p *Portal) enter(r *http.Request, proof users.Proof) (entry users.Entry, err error) {
	ctx := store.AsSystem(r.Context())
	token := tokenOf(r)
	err = p.db.Write(ctx, func(tx *store.Tx) (err error) {
		entry, err = users.Enter(ctx, tx, token, p.cookies.device(r, token), pageOf(r), proof)
		return err
	})
	return entry, err
}

func pageOf(r *http.Request) secrets.Text { return secrets.Text(r.PostForm.Get("page")) }

// enterAgain signs in a person who pressed the button twice. Any other request
// fails with otherwise.
func (p *Portal) enterAgain(w http.ResponseWriter, r *http.Request, otherwise error) error {
	ctx := store.AsSystem(r.Context())
	var entry users.Entry
	err := p.db.Read(ctx, func(tx *store.Tx) (err error) {
		entry, err = users.EnterAgain(ctx, tx, tokenOf(r), pageOf(r))
		return err
	})
	if errors.Is(err, users.ErrLinkGone) {
		return otherwise
	}
	if err != nil {
		return err
	}
	p.admit(w, r, entry)
	return nil
}

// admit gives the browser its cookies and sends it to the person's page, or to
// the order that the link names.
func (p *Portal) admit(w http.ResponseWriter, r *http.Request, entry users.Entry) {
	note(r, entry.Link.Team, entry.Link.User)
	p.cookies.setSession(w, entry.Session)
	if entry.Device != "" {
		p.cookies.setDevice(w, entry.Link, entry.Device, p.db.Now())
	}
	to := homePath
	if entry.Link.Order != nil {
		to = ordersPath + entry.Link.Order.String()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}
