package portal

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// outbox returns the site's messages, newest first.
func (s *site) outbox(t *testing.T) (all []messages.OutboxMessage) {
	t.Helper()
	userstest.Read(t, s.db, func(ctx context.Context, tx *store.Tx) (err error) {
		all, err = messages.List(ctx, tx, s.user.Team, messages.Filter{Limit: 100})
		return err
	})
	return all
}

// code returns the code that was sent last; empty if none was.
func (s *site) code(t *testing.T) string {
	t.Helper()
	all := s.outbox(t)
	if len(all) == 0 {
		return ""
	}
	return regexp.MustCompile(`[0-9]{6}`).FindString(all[0].Text)
}

// wrongCode returns a code that was not sent.
func (s *site) wrongCode(t *testing.T) string {
	t.Helper()
	if s.code(t) == "111111" {
		return "222222"
	}
	return "111111"
}

func (s *site) changeTeam(t *testing.T, change func(team *teams.Team)) {
	t.Helper()
	userstest.Write(t, s.db, func(ctx context.Context, tx *store.Tx) error {
		team, err := teams.Get(ctx, tx, s.user.Team)
		if err != nil {
			return err
		}
		change(&team)
		return teams.Update(ctx, tx, team)
	})
}

func (s *site) acceptBirthDate(t *testing.T) {
	t.Helper()
	s.changeTeam(t, func(team *teams.Team) { team.Settings.PortalBirthDate = true })
}

// goToProduction makes the team one whose messages leave the service.
func (s *site) goToProduction(t *testing.T) {
	t.Helper()
	userstest.Write(t, s.db, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE teams SET environment = 'production' WHERE id = $1`, s.user.Team)
		return err
	})
}

func TestNewDeviceEntersACode(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		link := s.link(t, users.Communications)
		if !strings.HasPrefix(link, s.url+"/p/") {
			t.Errorf("link %s is not short", link)
		}
		person := newBrowser(t)
		for range 3 { // mail scanners look, too
			page := person.get(link)
			page.want(t, 200, "How should we check?", "the number that ends in 32", "e-mail to a•••@e•••.org")
			for _, personal := range []string{"Ada", "ada@", "example.org", "4155550132", "date of birth"} {
				if strings.Contains(page.body, personal) {
					t.Errorf("the page of the link has %q", personal)
				}
			}
			scanned := newBrowser(t).get(link + "/code")
			scanned.want(t, 303)
			if to := scanned.header.Get("Location"); s.url+to != link {
				t.Errorf("without a code its page leads to %s", to)
			}
		}
		if n := len(s.outbox(t)); n != 0 {
			t.Errorf("looking at the link sent %d codes", n)
		}
		sent := person.post(link, "method", "email")
		sent.want(t, 303)
		if to := sent.header.Get("Location"); s.url+to != link+"/code" {
			t.Fatalf("sent on to %s", to)
		}
		m := s.outbox(t)[0]
		if m.Recipient != "ada@example.org" || m.State != messages.Outbox || !strings.Contains(m.Text, "Dear Ada") {
			t.Errorf("%+v", m)
		}
		code := s.code(t)
		page := person.get(link + "/code")
		page.want(t, 200, "Enter your code", "e-mail to a•••@e•••.org", `autocomplete="one-time-code"`, "hale outbox", "Choose another way")
		if strings.Contains(page.body, code) {
			t.Error("the page has the code")
		}
		person.post(link+"/code", "code", "12 34").want(t, 422, "Enter the six digits", "<title>Error: ", `aria-invalid="true"`)
		person.post(link+"/code", "code", s.wrongCode(t)).want(t, 422, "You can try 4 more times")
		person.post(link+"/code", "code", " "+code[:3]+"-"+code[3:]).want(t, 303)
		person.get(s.url+"/portal").want(t, 200, "Hello Ada")

		s.now = s.now.Add(13 * 24 * time.Hour)
		person.get(s.url+"/portal").want(t, 401, "You are signed out")
		if page := person.get(link); strings.Contains(page.body, "How should we check?") {
			t.Error("a known device is checked again")
		}
		person.post(link).want(t, 303)
		person.get(s.url+"/portal").want(t, 200, "Hello Ada")
		newBrowser(t).get(link).want(t, 200, "How should we check?")
	})
}

func TestCodeByTextMessage(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		link := s.link(t, users.Communications)
		person := newBrowser(t)
		person.post(link, "method", "sms").want(t, 303)
		if m := s.outbox(t)[0]; m.Channel != messages.SMS || m.Recipient != "+14155550132" {
			t.Errorf("%+v", m)
		}
		person.get(link+"/code").want(t, 200, "by text message to the number that ends in 32")
		person.post(link+"/code", "code", s.code(t)).want(t, 303)
	})
}

// A code that went to a wrong number does not work after the team corrected the number.
func TestCorrectedPhoneNumber(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		link := s.link(t, users.Communications)
		person := newBrowser(t)
		person.post(link, "method", "sms").want(t, 303)
		wrong := s.code(t)
		info := userstest.Info()
		info.PhoneNumber = "+14155550177"
		userstest.WithInfo(t, s.db, s.user, info)
		person.get(link+"/code").want(t, 200, "This code no longer works", "Send a new code")
		person.post(link+"/code", "code", wrong).want(t, 422, "This code no longer works")
		s.now = s.now.Add(time.Minute)
		person.post(link, "method", "sms").want(t, 303)
		if m := s.outbox(t)[0]; m.Recipient != info.PhoneNumber {
			t.Errorf("the new code went to %s", m.Recipient)
		}
		person.post(link+"/code", "code", s.code(t)).want(t, 303)
	})
}

// Too many codes, or too many tries, are answered by a page that says what to do.
func TestLimitsOfCodes(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		link, other := s.link(t, users.Communications), s.link(t, users.Communications)
		person := newBrowser(t)
		person.post(link, "method", "sms").want(t, 303)
		s.now = s.now.Add(20 * time.Second)
		again := person.post(link, "method", "sms")
		again.want(t, 429, "you can ask for a new one in 40 seconds", "Enter your code", `name="code"`)
		if got := again.header.Get("Retry-After"); got != "40" {
			t.Errorf("Retry-After: %q", got)
		}
		person.post(other, "method", "sms").want(t, 429, "Please wait a moment", "in 40 seconds")
		for left := 4; left > 1; left-- {
			person.post(link+"/code", "code", s.wrongCode(t)).want(t, 422, "You can try "+strconv.Itoa(left)+" more times")
		}
		person.post(link+"/code", "code", s.wrongCode(t)).want(t, 422, "You can try one more time")
		for range 2 {
			page := person.post(link+"/code", "code", s.wrongCode(t))
			page.want(t, 422, "This code no longer works", "Send a new code")
			if strings.Contains(page.body, `name="code"`) {
				t.Error("the page asks for a code that cannot work")
			}
		}
		person.post(link+"/code", "code", s.code(t)).want(t, 422, "This code no longer works")
		person.get(link+"/code").want(t, 200, "This code no longer works")
		person.post(link, "method", "sms").want(t, 429, "This code no longer works", "You can ask for a new code in 40 seconds")
		for range 9 {
			s.now = s.now.Add(time.Minute)
			person.post(link, "method", "sms").want(t, 303)
		}
		s.now = s.now.Add(time.Minute)
		person.post(link, "method", "sms").want(t, 429, "This link gets no more codes", "ask Test team for a new link")
		person.post(link+"/code", "code", s.code(t)).want(t, 303)
	})
}

func TestExpiredCode(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		link := s.link(t, users.Communications)
		person := newBrowser(t)
		person.post(link, "method", "sms").want(t, 303)
		s.now = s.now.Add(10 * time.Minute)
		person.get(link+"/code").want(t, 200, "This code no longer works")
		person.post(link+"/code", "code", s.code(t)).want(t, 422, "This code no longer works", "Send a new code")
		person.post(link, "method", "sms").want(t, 303)
		person.post(link+"/code", "code", s.code(t)).want(t, 303)
	})
}

func TestMethodsThatAreOffered(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		link := s.link(t, users.Communications)
		person := newBrowser(t)
		for name, form := range map[string][]string{"none": nil, "unknown": {"method", "carrier pigeon"}, "not accepted": {"method", "birth_date"}} {
			t.Run(name, func(t *testing.T) {
				person.post(link, form...).want(t, 422, "Choose how we should check", "<title>Error: ")
			})
		}
		person.get(link+"/birth-date").want(t, 303)
		person.post(link+"/birth-date", "month", "12", "day", "10", "year", "1984").want(t, 303)
		person.get(s.url+"/portal").want(t, 401)

		s.acceptBirthDate(t)
		person.get(link).want(t, 200, "Enter my date of birth", "by text message", "by e-mail")
		to := person.post(link, "method", "birth_date")
		to.want(t, 303)
		person.get(s.url+to.header.Get("Location")).want(t, 200, "Enter your date of birth")

		s.goToProduction(t) // with no channel set up
		only := person.get(link)
		only.want(t, 200, "We will ask for your date of birth", `type="hidden" name="method" value="birth_date"`)
		if strings.Contains(only.body, "send a code") {
			t.Error("a code is offered that cannot be sent")
		}
		person.post(link, "method", "sms").want(t, 422)
	})
}

func TestUserWithoutAnyCheck(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		s.goToProduction(t)
		link := s.link(t, users.Communications)
		person := newBrowser(t)
		for _, page := range []answer{person.get(link), person.post(link), person.post(link, "method", "email")} {
			page.want(t, 403, "We cannot check that it is you", "Please contact Test team")
		}
		person.post(s.link(t, users.Launch)).want(t, 303) // which needs no check
	})
}

func TestOneChannelIsNotAChoice(t *testing.T) {
	s := newSite(t)
	s.goToProduction(t)
	s.service.Email = discardSender{}
	link := s.link(t, users.Communications)
	page := newBrowser(t).get(link)
	page.want(t, 200, "We will send a code by e-mail to a•••@e•••.org", "Send the code")
	if strings.Contains(page.body, "radio") || strings.Contains(page.body, "text message") {
		t.Errorf("there is a choice of one:\n%s", page.body)
	}
	newBrowser(t).post(link, "method", "email").want(t, 303)
}

type discardSender struct{}

func (discardSender) Send(context.Context, messages.Outgoing) error { return nil }

func TestBirthDate(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		s.acceptBirthDate(t)
		link := s.link(t, users.Communications)
		form := link + "/birth-date"
		person := newBrowser(t)
		person.get(form).want(t, 200, "Enter your date of birth", `<label for="month">`, `<label for="day">`, `<label for="year">`)
		person.post(form, "month", "2", "day", "30", "year", "1984").want(t, 422, "make a real date", "<title>Error: ", `value="30"`, `aria-invalid="true"`)
		person.post(form, "month", "12", "day", "10", "year", "84").want(t, 422, "a year of four digits", `value="84"`)
		person.post(form, "month", "12", "day", "11", "year", "1984").want(t, 422, "You can try 4 more times")
		person.post(form, "month", " 12", "day", "١٠", "year", "１９８４").want(t, 303)
		person.get(s.url+"/portal").want(t, 200, "Hello Ada")
		guesser := newBrowser(t)
		for range 3 {
			guesser.post(form, "month", "1", "day", "1", "year", "1990").want(t, 422, "There is a problem")
		}
		guesser.post(form, "month", "1", "day", "1", "year", "1990").want(t, 303)
		person.post(link).want(t, 303) // on a device that is known
	})
}

// After five wrong dates no link of the person asks for the date of birth. The code works.
func TestBirthDateUsedUp(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		s.acceptBirthDate(t)
		first, second := s.link(t, users.Communications), s.link(t, users.Communications)
		wrong := []string{"month", "1", "day", "1", "year", "1990"}
		person := newBrowser(t)
		for range 3 {
			person.post(first+"/birth-date", wrong...).want(t, 422, "There is a problem")
		}
		person.post(second+"/birth-date", wrong...).want(t, 422, "You can try one more time. After that we no longer ask for it.")
		last := person.post(second+"/birth-date", wrong...)
		last.want(t, 303)
		person.get(s.url+last.header.Get("Location")).want(t, 200, "A wrong date of birth was entered five times", "A code still works")
		for _, link := range []string{first, second, s.link(t, users.Communications)} {
			page := person.get(link)
			page.want(t, 200, "A code still works", "by text message", "by e-mail")
			if strings.Contains(page.body, "Enter my date of birth") {
				t.Error("the page offers the date of birth")
			}
			person.get(link+"/birth-date").want(t, 303)
			person.post(link+"/birth-date", "month", "12", "day", "10", "year", "1984").want(t, 303)
			person.get(s.url+"/portal").want(t, 401)
			person.post(link, "method", "birth_date").want(t, 422, "A code still works")
		}
		person.post(first, "method", "sms").want(t, 303)
		person.post(first+"/code", "code", s.code(t)).want(t, 303)
		person.get(s.url+"/portal").want(t, 200, "Hello Ada")
		userstest.Read(t, s.db, func(ctx context.Context, tx *store.Tx) error {
			access, err := users.ListPortalAccess(ctx, tx, s.user.Team, s.user.ID)
			if len(access.Links) != 3 {
				t.Errorf("open links: %+v", access.Links)
			}
			return err
		})

		s.goToProduction(t) // with no channel set up
		newBrowser(t).get(second).want(t, 403, "A wrong date of birth was entered five times", "Please contact Test team")
	})
}

// Of two presses of the code's button the browser keeps the second answer.
func TestCodeSentTwice(t *testing.T) {
	s := newSite(t)
	link := s.link(t, users.Communications)
	person := newBrowser(t)
	person.post(link, "method", "sms").want(t, 303)
	page := regexp.MustCompile(`name="page" value="([0-9A-Za-z]{43})"`).FindStringSubmatch(person.get(link + "/code").body)
	if page == nil {
		t.Fatal("the form has no secret of its page")
	}
	code := s.code(t)
	newBrowser(t).post(link+"/code", "code", code, "page", page[1]).want(t, 303) // the answer that was lost
	person.post(link+"/code", "code", code, "page", page[1]).want(t, 303)
	person.get(s.url+"/portal").want(t, 200, "Hello Ada")
	person.post(link).want(t, 303) // on a device that is known
	newBrowser(t).post(link+"/code", "code", code).want(t, 422, "This code no longer works")
}

// The checks of a deleted person's link look like those of a link that never was.
func TestChecksOfABadLink(t *testing.T) {
	s := newSite(t)
	link := s.link(t, users.Communications)
	newBrowser(t).post(link, "method", "sms").want(t, 303)
	userstest.Write(t, s.db, func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, s.user.Team, s.user.ID) })
	for _, address := range []string{link, s.url + "/p/" + strings.Repeat("a", 43)} {
		for _, suffix := range []string{"", "/code", "/birth-date"} {
			newBrowser(t).get(address+suffix).want(t, 404, "This link does not work")
			newBrowser(t).post(address+suffix, "method", "sms", "code", "123456").want(t, 404, "This link does not work")
		}
	}
}

func TestDeviceCookies(t *testing.T) {
	s := newSite(t)
	links := []string{s.link(t, users.Communications), s.link(t, users.Communications)}
	ends := s.now.Add(users.Communications.Lifetime())
	person := newBrowser(t)
	for _, link := range links {
		person.post(link, "method", "sms").want(t, 303)
		in := person.post(link+"/code", "code", s.code(t))
		in.want(t, 303)
		var device *http.Cookie
		for _, line := range in.header.Values("Set-Cookie") {
			c, err := http.ParseSetCookie(line)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(c.Name, "hale-device-") {
				device = c
			}
		}
		if device == nil || device.MaxAge != int(ends.Sub(s.now).Seconds()) || !device.HttpOnly || device.SameSite != http.SameSiteLaxMode {
			t.Errorf("the device's cookie is %+v", device)
		}
		s.now = s.now.Add(time.Minute)
	}
	for _, link := range links { // neither link forgets the device for the other
		person.post(link).want(t, 303)
	}
}

func TestMaskEmail(t *testing.T) {
	for address, want := range map[string]string{
		"ada@example.org": "a•••@e•••.org", "x@y.co.uk": "x•••@y•••.uk", "ö@ü.example": "ö•••@ü•••.example", "": "•••@•••", "odd": "•••@o•••odd",
	} {
		if got := maskEmail(address); got != want {
			t.Errorf("%q becomes %q", address, got)
		}
	}
}

func TestParseCode(t *testing.T) {
	for typed, want := range map[string]string{
		"123456": "123456", " 12 34-56\t": "123456", "123\u00a0456": "123456", "123\u2009456": "123456", "123\u2013456": "123456",
		"\u200f123456\u200e": "123456", "\u2066123456\u2069": "123456", "\ufeff123\u200b456": "123456",
		"١٢٣٤٥٦": "123456", "۰۱۲۳۴۵": "012345", "１２３４５６": "123456", "１２３ ٤٥٦": "123456",
		"": "", "12345": "", "1234567": "", "12345a": "", "12345.6": "", "+12345": "",
	} {
		if got, ok := parseCode(typed); got.Reveal() != want || ok != (want != "") {
			t.Errorf("%q is read as %q, %v", typed, got.Reveal(), ok)
		}
	}
}

func FuzzParseCode(f *testing.F) {
	f.Add("123456")
	f.Add(" 123-456 ")
	f.Add("１２３４５６")
	f.Fuzz(func(t *testing.T, text string) {
		code, ok := parseCode(text)
		if ok != regexp.MustCompile(`^[0-9]{6}$`).MatchString(code.Reveal()) {
			t.Fatalf("%q becomes %q, %v", text, code.Reveal(), ok)
		}
	})
}

func TestFormThatIsTooLarge(t *testing.T) {
	s := newSite(t)
	link := s.link(t, users.Communications)
	for _, suffix := range []string{"", "/code", "/birth-date"} {
		newBrowser(t).post(link+suffix, "method", strings.Repeat("x", 3<<20)).want(t, 413, "This form is too large")
	}
}
