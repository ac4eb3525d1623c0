package portal

import (
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"time"

	"hale/internal/people/users"
	"hale/internal/platform/secrets"
)

// cookies writes and reads the browser's cookies: the session's token, and for
// each link the secret by which the device is known.
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

func (c cookies) setDevice(w http.ResponseWriter, link users.PortalLink, device secrets.Text, now time.Time) {
	c.set(w, deviceCookieOf(link.Token), device, int(link.ExpiresOn.Sub(now).Seconds()))
}

func (c cookies) dropSession(w http.ResponseWriter) { c.set(w, sessionCookie, "", -1) }

func (c cookies) session(r *http.Request) secrets.Text { return c.get(r, sessionCookie) }

func (c cookies) device(r *http.Request, token secrets.Text) secrets.Text {
	return c.get(r, deviceCookieOf(token))
}

// deviceCookieOf names the cookie of one link: a browser may know several.
func deviceCookieOf(token secrets.Text) string {
	return deviceCookie + "-" + hex.EncodeToString(secrets.Hash(token.Reveal())[:6])
}

func (c cookies) get(r *http.Request, base string) secrets.Text {
	cookie, err := r.Cookie(c.name(base))
	if err != nil {
		return ""
	}
	return secrets.Text(cookie.Value)
}
