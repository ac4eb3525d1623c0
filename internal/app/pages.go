package app

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"

	"github.com/go-chi/chi/v5"

	"hale/internal/api"
	"hale/internal/api/wearables"
	"hale/internal/docpages"
	"hale/internal/portal"
	"hale/internal/wearables/providers"
)

//go:embed home.html
var homeText string

// icon is the picture of all pages in the tab of a browser. Without one, a browser
// requests /favicon.ico and reports an error in its console.
//
//go:embed icon.svg
var icon []byte

const iconPath = "/static/icon.svg"

func serveIcon(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(icon)
}

var homeTemplate = template.Must(template.New("home").Parse(homeText))

// homePage holds the facts about the node at the address that `hale serve` prints. It
// contains nothing about a team or a person, because the page needs no key.
type homePage struct {
	Version     string `json:"version"`
	Environment string `json:"environment"`
	Ready       bool   `json:"ready"`
	URL         string `json:"url"`
	Docs        string `json:"docs,omitempty"` // empty if the documentation is off
	OpenAPI     string `json:"openapi,omitempty"`
}

// serveHome answers GET / with a page for browsers and JSON for programs.
func (a *App) serveHome(w http.ResponseWriter, r *http.Request) {
	base := a.URL()
	page := homePage{
		Version: a.Version, Environment: a.Config.Environment, Ready: a.Health.IsReady(r.Context()),
		URL: base,
	}
	if a.Config.Docs {
		page.Docs, page.OpenAPI = base+"/docs", base+"/openapi.json"
	}
	var body bytes.Buffer
	contentType, err := "application/json", error(nil)
	if docpages.WantsHTML(r) {
		contentType = "text/html; charset=utf-8"
		err = homeTemplate.Execute(&body, page)
	} else {
		err = json.NewEncoder(&body).Encode(page)
	}
	if err != nil {
		a.Log.Error("the page at / cannot be written", "error", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Vary", "Accept")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	_, _ = w.Write(body.Bytes())
}

// mount adds the handlers that are no operations of the API: the first page, the
// documentation, the portal's pages, the icon and the logos.
func (a *App) mount(router chi.Router) {
	router.Get("/", a.serveHome)
	router.Get(iconPath, serveIcon)
	if a.Config.Docs {
		notFound := func(w http.ResponseWriter, _ *http.Request) { api.WriteDetail(w, http.StatusNotFound, "Not Found") }
		docpages.Mount(router, a.Log, a.api.OpenAPI(), notFound)
	}
	pages := portal.New(portal.Options{DB: a.DB, Log: a.Log, BaseURL: a.URL(), Messages: a.sending, Audit: a.audit})
	for _, pattern := range portal.Patterns {
		router.Handle(pattern, pages)
	}
	router.Handle(providers.LogoPath+"*", wearables.ProviderLogos())
}
