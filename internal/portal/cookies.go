package portal

import (
	"net"
	"net/http"
	"net/url"

	"hale/internal/people/users"
	"hale/internal/platform/secrets"
)

// cookies writes and reads what the browser keeps: the session's token and the
// one of a known device.
//
// Their names begin with __Host-, which binds them to this host and to https.
// On http at a loopback address, where a person tries the service out, browsers
// would drop them, so there they have plain names.
type cookies struct{ secure bool }

func cookiesFor(baseURL string) cookies {
	u, err := url.Parse(baseURL)
	return cookies{secure: err != nil || u.Scheme != "http" || !isLoopback(u.Hostname())}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

const (
	sessionCookie = "hale-portal"
	deviceCookie  = "hale-device"
)

func (c cookies) name(base string) string {
	if c.secure {
		return "__Host-" + base
	}
	return base
}

// set keeps a token for so many seconds; below zero removes it. Lax lets a
// link in a mail program bring the cookie along, which Strict would not;
// forms of other sites are refused by their origin.
func (c cookies) set(w http.ResponseWriter, base string, token secrets.Text, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: c.name(base), Value: token.Reveal(), Path: "/", MaxAge: seconds,
		HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteLaxMode,
	})
}

func (c cookies) setSession(w http.ResponseWriter, token secrets.Text) {
	c.set(w, sessionCookie, token, int(users.SessionLongest.Seconds()))
}

func (c cookies) setDevice(w http.ResponseWriter, token secrets.Text) {
	c.set(w, deviceCookie, token, int(users.DeviceKnown.Seconds()))
}

func (c cookies) dropSession(w http.ResponseWriter) { c.set(w, sessionCookie, "", -1) }

func (c cookies) session(r *http.Request) secrets.Text { return c.get(r, sessionCookie) }
func (c cookies) device(r *http.Request) secrets.Text  { return c.get(r, deviceCookie) }

func (c cookies) get(r *http.Request, base string) secrets.Text {
	cookie, err := r.Cookie(c.name(base))
	if err != nil {
		return ""
	}
	return secrets.Text(cookie.Value)
}
