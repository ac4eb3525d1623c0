package portal

import (
	"regexp"
	"testing"
	"time"

	"hale/internal/people/users"
)

// Of two presses of the button the browser keeps the second answer, when the
// link is used up already. Another page, or a later time, is somebody else's.
func TestAButtonPressedTwice(t *testing.T) {
	s := newSite(t)
	link := s.link(t, users.Launch)
	secret := regexp.MustCompile(`name="page" value="([0-9A-Za-z]{43})"`)
	person, thief := newBrowser(t), newBrowser(t)
	page := secret.FindStringSubmatch(person.get(link).body)
	other := secret.FindStringSubmatch(thief.get(link).body)
	if page == nil || other == nil || page[1] == other[1] {
		t.Fatalf("the pages' secrets are %q and %q", page, other)
	}
	newBrowser(t).post(link, "page", page[1]).want(t, 303) // whose answer nobody waited for
	again := person.post(link, "page", page[1])
	again.want(t, 303)
	person.get(s.url+again.header.Get("Location")).want(t, 200, "Hello Ada")
	for _, words := range [][]string{nil, {"page", ""}, {"page", other[1]}} {
		thief.post(link, words...).want(t, 404, "This link does not work")
	}
	thief.get(s.url+"/portal").want(t, 401)
	person.post(s.url+"/portal/sign-out").want(t, 303)
	person.post(link, "page", page[1]).want(t, 404, "This link does not work")

	link = s.link(t, users.Launch)
	page = secret.FindStringSubmatch(person.get(link).body)
	person.post(link, "page", page[1]).want(t, 303)
	s.now = s.now.Add(time.Minute + time.Second)
	person.post(link, "page", page[1]).want(t, 404, "This link does not work")
}
