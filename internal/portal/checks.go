package portal

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Paths of the check's pages, below the link's own path.
const (
	codeSuffix      = "/code"
	birthDateSuffix = "/birth-date"
)

func linkPath(r *http.Request, suffix string) string {
	return users.CommunicationsPath + r.PathValue("token") + suffix
}

// startCheck sends a code, or redirects to the page for the date of birth, as the
// person chose.
func (p *Portal) startCheck(w http.ResponseWriter, r *http.Request, v visitor) error {
	method := users.CheckMethod(r.PostForm.Get("method"))
	switch {
	case len(v.methods) > 0 && !slices.Contains(v.methods, method):
		return p.renderLink(w, r, v, http.StatusUnprocessableEntity, textFor(r).NoMethod)
	case len(v.methods) == 0:
		return p.renderLink(w, r, v, http.StatusForbidden, "")
	case method == users.ByDateOfBirth:
		http.Redirect(w, r, linkPath(r, birthDateSuffix), http.StatusSeeOther)
		return nil
	}
	err := p.sendCode(r, v, method)
	var early *users.CodeWaitError
	switch {
	case errors.As(err, &early):
		return p.renderTooEarly(w, r, v, early)
	case errors.Is(err, users.ErrNoMoreCodes):
		return p.renderMessage(w, r, http.StatusTooManyRequests, textFor(r).NoMoreCodes.with(v.team.Name))
	case err != nil:
		return err
	}
	http.Redirect(w, r, linkPath(r, codeSuffix), http.StatusSeeOther)
	return nil
}

// renderTooEarly asks the person to wait before the next code.
func (p *Portal) renderTooEarly(w http.ResponseWriter, r *http.Request, v visitor, early *users.CodeWaitError) error {
	t := textFor(r)
	wait := t.seconds(early.RetryAfter())
	w.Header().Set("Retry-After", strconv.Itoa(early.RetryAfter()))
	switch {
	case v.link.Code == nil: // the last code was for another link
		return p.renderMessage(w, r, http.StatusTooManyRequests, t.CodeWait.with(wait))
	case v.usable:
		return p.renderCode(w, r, v, http.StatusTooManyRequests, formNote{notice: fmt.Sprintf(t.CodeSentAlready, wait)})
	}
	return p.renderCode(w, r, v, http.StatusTooManyRequests, formNote{notice: fmt.Sprintf(t.CodeTooEarly, wait)})
}

// sendCode creates a code and queues its message in one transaction.
func (p *Portal) sendCode(r *http.Request, v visitor, method users.CheckMethod) error {
	ctx := store.AsSystem(r.Context())
	return p.db.Write(ctx, func(tx *store.Tx) error {
		code, err := users.CreateCode(ctx, tx, tokenOf(r), method)
		if err != nil {
			return err
		}
		if v.info, err = users.LatestInfo(ctx, tx, v.link.Team, v.link.User); err != nil { // corrected since the page was shown
			return err
		}
		return messages.SendPortalCode(ctx, tx, messages.PortalCode{
			Team: v.link.Team, User: v.link.User, Channel: messages.Channel(method), Recipient: v.address(method),
			FirstName: v.info.FirstName, Code: code.Digits, Expires: code.ExpiresOn,
		})
	})
}

// address returns the recipient of a code.
func (v *visitor) address(method users.CheckMethod) string {
	if method == users.CodeByEmail {
		return v.info.Email
	}
	return v.info.PhoneNumber
}

// masked returns a part of the address that its owner recognizes: the last two
// digits of a phone number, or maskEmail.
func (v *visitor) masked(method users.CheckMethod) string {
	if method == users.CodeByEmail {
		return maskEmail(v.info.Email)
	}
	return v.info.PhoneNumber[max(0, len(v.info.PhoneNumber)-2):]
}

const mask = "•••"

// maskEmail keeps the first letter of the name and of the domain, and the last
// label: a•••@e•••.org.
func maskEmail(address string) string {
	at := strings.LastIndexByte(address, '@')
	local, domain := address[:max(0, at)], address[at+1:]
	return firstLetter(local) + mask + "@" + firstLetter(domain) + mask + domain[max(0, strings.LastIndexByte(domain, '.')):]
}

func firstLetter(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

// formNote is a text above a form: a problem with its fields, or a notice.
type formNote struct{ problem, notice string }

// triesLeft picks and fills the text for the tries that are left.
func triesLeft(one, many string, n int64) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// codeView is the page for the code.
type codeView struct {
	frame
	Sent    string
	Notice  string
	Problem string
	Over    bool // the code can no longer be used
	Method  users.CheckMethod
	Page    string // secret of this page, for users.EnterAgain
	Link    string // path of the link's first page
	Others  bool   // the person can choose another method
	Sandbox bool
}

func (p *Portal) showCode(w http.ResponseWriter, r *http.Request) error {
	v, err := p.visitor(r)
	if err != nil {
		return err
	}
	if v.known || v.link.Code == nil {
		http.Redirect(w, r, linkPath(r, ""), http.StatusSeeOther)
		return nil
	}
	return p.renderCode(w, r, v, http.StatusOK, formNote{})
}

func (p *Portal) renderCode(w http.ResponseWriter, r *http.Request, v visitor, status int, note formNote) error {
	t := textFor(r)
	view := codeView{
		frame: frameFor(r, t.CodeTitle), Notice: note.notice, Problem: note.problem, Over: !v.usable,
		Method: v.link.Code.Method, Page: users.NewPage().Reveal(), Link: linkPath(r, ""), Others: len(v.methods) > 1,
		Sandbox: v.team.Environment == teams.Sandbox,
	}
	view.Sent = fmt.Sprintf(t.CodeSent[view.Method], v.masked(view.Method))
	if view.Over {
		view.Title = t.CodeOverTitle
	}
	if view.Problem != "" {
		view.Title = t.ErrorPrefix + view.Title
	}
	p.render(w, status, codePage, view)
	return nil
}

// useCode checks a code and signs the person in.
func (p *Portal) useCode(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(w, r); err != nil {
		return err
	}
	v, err := p.visitor(r)
	if err != nil {
		return err
	}
	t := textFor(r)
	code, ok := parseCode(r.PostForm.Get("code"))
	if !ok && !v.known && v.usable { // a typing error does not count as a try
		return p.renderCode(w, r, v, http.StatusUnprocessableEntity, formNote{problem: t.NotACode})
	}
	entry, err := p.enter(r, users.Proof{Code: code})
	if err != nil {
		return err
	}
	if entry.Refusal != "" {
		note(r, v.link.Team, v.link.User)
	}
	switch {
	case entry.Refusal == "":
		p.admit(w, r, entry)
		return nil
	case entry.Refusal == users.WrongCode && entry.TriesLeft > 0:
		return p.renderCode(w, r, v, http.StatusUnprocessableEntity, formNote{problem: triesLeft(t.WrongCodeOne, t.WrongCode, entry.TriesLeft)})
	}
	err = p.enterAgain(w, r, errCodeOver)
	if !errors.Is(err, errCodeOver) {
		return err
	}
	if v.link.Code == nil {
		http.Redirect(w, r, linkPath(r, ""), http.StatusSeeOther)
		return nil
	}
	v.usable = false
	return p.renderCode(w, r, v, http.StatusUnprocessableEntity, formNote{})
}

var errCodeOver = errors.New("portal: the code can no longer be used")

// parseCode reads a code as people type or paste it: with blanks, hyphens or direction
// marks, and in the digits of their keyboard.
func parseCode(s string) (secrets.Text, bool) {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Pd) {
			return -1
		}
		return asciiDigit(r)
	}, s)
	if len(s) != users.CodeDigits || strings.Trim(s, "0123456789") != "" {
		return "", false
	}
	return secrets.Text(s), true
}

// asciiDigit returns the ASCII digit of a digit of another keyboard, and any other rune
// unchanged.
func asciiDigit(r rune) rune {
	for _, zero := range "٠۰０" { // Arabic-Indic, Persian and full-width
		if zero <= r && r <= zero+9 {
			return r - zero + '0'
		}
	}
	return r
}

// birthDateView is the page for the date of birth.
type birthDateView struct {
	frame
	Problem          string
	Month, Day, Year string // as typed
	Link             string // path of the link's first page
	Others           bool   // the person can choose another method
}

// birthDateVisitor returns ok if the link may ask this browser for the date of
// birth. If not, it redirects to the link's first page.
func (p *Portal) birthDateVisitor(w http.ResponseWriter, r *http.Request) (v visitor, ok bool, err error) {
	v, err = p.visitor(r)
	if err != nil {
		return v, false, err
	}
	if !slices.Contains(v.methods, users.ByDateOfBirth) {
		http.Redirect(w, r, linkPath(r, ""), http.StatusSeeOther)
		return v, false, nil
	}
	return v, true, nil
}

func (p *Portal) showBirthDate(w http.ResponseWriter, r *http.Request) error {
	v, ok, err := p.birthDateVisitor(w, r)
	if err != nil || !ok {
		return err
	}
	return p.renderBirthDate(w, r, v, http.StatusOK, "")
}

func (p *Portal) renderBirthDate(w http.ResponseWriter, r *http.Request, v visitor, status int, problem string) error {
	t := textFor(r)
	view := birthDateView{
		frame: frameFor(r, t.BirthDateTitle), Problem: problem, Link: linkPath(r, ""), Others: len(v.methods) > 1,
		Month: r.PostForm.Get("month"), Day: r.PostForm.Get("day"), Year: r.PostForm.Get("year"),
	}
	if problem != "" {
		view.Title = t.ErrorPrefix + view.Title
	}
	p.render(w, status, birthDatePage, view)
	return nil
}

// useBirthDate checks a date of birth and signs the person in.
func (p *Portal) useBirthDate(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(w, r); err != nil {
		return err
	}
	v, ok, err := p.birthDateVisitor(w, r)
	if err != nil || !ok {
		return err
	}
	t := textFor(r)
	date := parseDay(r.PostForm.Get("year"), r.PostForm.Get("month"), r.PostForm.Get("day"))
	if date == nil { // a typing error does not count as a try
		return p.renderBirthDate(w, r, v, http.StatusUnprocessableEntity, t.NotADate)
	}
	entry, err := p.enter(r, users.Proof{BirthDate: date})
	if err == nil && entry.Refusal != "" {
		note(r, v.link.Team, v.link.User)
	}
	switch {
	case err != nil:
		return err
	case entry.Refusal == "":
		p.admit(w, r, entry)
		return nil
	case entry.Refusal != users.WrongBirthDate, // the team has just turned it off, or the tries are used up
		entry.TriesLeft == 0:
		http.Redirect(w, r, linkPath(r, ""), http.StatusSeeOther)
		return nil
	}
	return p.renderBirthDate(w, r, v, http.StatusUnprocessableEntity, triesLeft(t.WrongDateOne, t.WrongDate, entry.TriesLeft))
}

// firstYear is the first year that is read as typed. An earlier one is a year of two or
// three digits.
const firstYear = 1000

// parseDay reads a date of birth as people type it: without leading zeros,
// with spaces around. It returns nil if there is no such day.
func parseDay(year, month, day string) *civil.Date {
	number := func(s string) (uint64, error) {
		return strconv.ParseUint(strings.Map(asciiDigit, strings.TrimSpace(s)), 10, 16)
	}
	y, err1 := number(year)
	m, err2 := number(month)
	d, err3 := number(day)
	if errors.Join(err1, err2, err3) != nil || y < firstYear {
		return nil
	}
	date, err := civil.ParseDate(fmt.Sprintf("%04d-%02d-%02d", y, m, d))
	if err != nil {
		return nil
	}
	return &date
}
