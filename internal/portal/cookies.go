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

// cookies writes and reads the browser's cookies: the session's token, and the
// secret of each link that knows the device.
//
// Their names begin with __Host-, which binds them to this host and to https.
// Browsers drop such cookies over http, so a loopback address uses plain names.
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

// set stores a token for a number of seconds; a negative number removes it.
// SameSite is Lax: with Strict, browsers send no cookie when a person follows a
// link in a mail program. guard refuses the forms of other sites.
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

// deviceCookieOf returns the name of a link's cookie. A browser may know several
// links.
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
