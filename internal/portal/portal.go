package portal

import (
	"context"
	"embed"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"hale/internal/labs/documents"
	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Options are the arguments of New.
type Options struct {
	DB  *store.DB
	Log *slog.Logger
	// BaseURL is the service's public address.
	BaseURL string
	// Messages reports which channels can carry a code to a person.
	Messages *messages.Service
	// Audit is the log of accesses; nil notes none.
	Audit *audit.Log
}

// Portal serves the pages. It is an http.Handler for the paths of Patterns.
type Portal struct {
	db       *store.DB
	log      *slog.Logger
	messages *messages.Service
	audit    *audit.Log
	cookies  cookies
	handler  http.Handler
}

// Patterns are the paths that the portal answers, in chi's notation.
var Patterns = []string{"/portal", "/portal/*", users.CommunicationsPath + "*"}

//go:embed static/portal.css
var staticFiles embed.FS

// New returns a portal.
func New(o Options) *Portal {
	p := &Portal{db: o.DB, log: o.Log, messages: o.Messages, audit: o.Audit, cookies: cookiesFor(o.BaseURL)}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.cookies.secure && strings.HasPrefix(o.BaseURL, "http:") {
		p.log.Warn("browsers drop the portal's cookies over http, so signing in fails: set a base URL that begins with https")
	}
	mux := http.NewServeMux()
	for _, path := range []string{users.LaunchPath, users.CommunicationsPath} {
		mux.HandleFunc("GET "+path+"{token}", p.page(p.showLink))
		mux.HandleFunc("POST "+path+"{token}", p.page(p.useLink))
	}
	mux.HandleFunc("GET "+users.CommunicationsPath+"{token}"+codeSuffix, p.page(p.showCode))
	mux.HandleFunc("POST "+users.CommunicationsPath+"{token}"+codeSuffix, p.page(p.useCode))
	mux.HandleFunc("GET "+users.CommunicationsPath+"{token}"+birthDateSuffix, p.page(p.showBirthDate))
	mux.HandleFunc("POST "+users.CommunicationsPath+"{token}"+birthDateSuffix, p.page(p.useBirthDate))
	mux.HandleFunc("GET "+homePath, p.page(p.home))
	mux.HandleFunc("GET "+homePath+"/{$}", p.page(p.home))
	mux.HandleFunc("GET "+ordersPath+"{order}", p.page(p.order))
	mux.HandleFunc("GET "+ordersPath+"{order}/form", p.page(p.document(requisition)))
	mux.HandleFunc("GET "+ordersPath+"{order}/instructions", p.page(p.document((*documents.Subject).Instructions)))
	mux.HandleFunc("POST "+signOutPath, p.page(p.signOut))
	mux.HandleFunc("GET "+signedOutPath, p.page(p.signedOut))
	mux.HandleFunc("GET "+stylePath, serveStyle)
	mux.HandleFunc("/", p.page(func(http.ResponseWriter, *http.Request) error { return errNoPage }))
	p.handler = p.guard(o.BaseURL, mux)
	return p
}

const (
	homePath      = "/portal"
	signOutPath   = "/portal/sign-out"
	signedOutPath = "/portal/signed-out"
	stylePath     = "/portal/static/portal.css"
)

func (p *Portal) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// guard refuses forms that another site submits. It trusts the service's own
// address, because a proxy may send another Host.
func (p *Portal) guard(baseURL string, next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	if u, err := url.Parse(baseURL); err == nil && u.Host != "" {
		if err := protection.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			p.log.Warn("the base URL is not an origin that browsers send", "error", err)
		}
	}
	protection.SetDenyHandler(p.page(func(http.ResponseWriter, *http.Request) error { return errForeignForm }))
	return protection.Handler(next)
}

var (
	errNoPage      = fault.New(fault.NotFound, "no such page")
	errForeignForm = fault.New(fault.Forbidden, "the form came from another site")

	errFormTooLarge = fault.New(fault.TooLarge, "the form is too large")
)

// policy allows a page only to load the style sheet and pictures of this host and
// to send forms to it. There is no script.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// page wraps the handler of a page. Its headers keep personal data out of caches,
// referrers and frames.
func (p *Portal) page(fn func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return p.audited(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		if p.cookies.secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if err := fn(w, r); err != nil {
			p.fail(w, r, err)
		}
	})
}

// fail renders an error for a person.
func (p *Portal) fail(w http.ResponseWriter, r *http.Request, err error) {
	text := textFor(r)
	status, message := http.StatusInternalServerError, text.Trouble
	switch {
	case errors.Is(err, context.Canceled): // the browser closed the connection
		return
	case errors.Is(err, users.ErrLinkGone):
		status, message = http.StatusNotFound, text.LinkGone
	case errors.Is(err, users.ErrNoSession):
		status, message = http.StatusUnauthorized, text.SignedOff
	case errors.Is(err, errForeignForm):
		status, message = http.StatusForbidden, text.ForeignForm
	case errors.Is(err, errFormTooLarge):
		status, message = http.StatusRequestEntityTooLarge, text.FormTooLarge
	case errors.Is(err, errNoPage):
		status, message = http.StatusNotFound, text.NoPage
	default:
		if fault.Is(err, fault.Unavailable) {
			status = http.StatusServiceUnavailable
		}
		var after interface{ RetryAfter() int }
		if errors.As(err, &after) {
			w.Header().Set("Retry-After", strconv.Itoa(after.RetryAfter()))
		}
		p.log.ErrorContext(r.Context(), "a page of the portal failed", "error", err)
	}
	_ = p.renderMessage(w, r, status, message)
}

// serveStyle answers with the style sheet. Its address has its version, so
// browsers may cache it forever.
func serveStyle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeFileFS(w, r, staticFiles, "static/portal.css")
}
