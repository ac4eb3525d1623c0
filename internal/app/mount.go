package app

import (
	"github.com/go-chi/chi/v5"

	"hale/internal/api/wearables"
	"hale/internal/docpages"
	"hale/internal/portal"
	"hale/internal/wearables/providers"
)

// mount adds the handlers that are no operations of the API: the first page, the
// documentation, the portal's pages and the logos.
func (a *App) mount(router chi.Router) {
	router.Get("/", a.serveHome)
	if a.Config.Docs {
		docpages.Mount(router, a.Log, a.api.OpenAPI())
	}
	pages := portal.New(portal.Options{DB: a.DB, Log: a.Log, BaseURL: a.URL(), Messages: a.sending, Audit: a.audit})
	for _, pattern := range portal.Patterns {
		router.Handle(pattern, pages)
	}
	router.Handle(providers.LogoPath+"*", wearables.ProviderLogos())
}
