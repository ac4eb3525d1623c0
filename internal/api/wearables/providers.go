package wearables

import (
	"context"
	"net/http"
	"strings"

	"hale/internal/api"
	"hale/internal/wearables/providers"
)

func (h *Handlers) providerRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/providers", h.listProviders, "List the catalogue of providers"),
	}
}

type listProvidersIn struct {
	SourceType []string `query:"source_type,explode" maxItems:"50" doc:"app, ble, device, lab or provider. An unknown word finds nothing."`
}

// providerBody is a row of the catalogue.
//
// Spec: Catalog provider.
type providerBody struct {
	Name               string   `json:"name"`
	Slug               string   `json:"slug"`
	Description        string   `json:"description"`
	Logo               *string  `json:"logo" format:"uri"`
	AuthType           *string  `json:"auth_type" doc:"Way of connecting: oauth, team_oauth, sdk, password, email or app. It is null if nothing has to be connected. The list may grow."`
	SupportedResources []string `json:"supported_resources"`
}

func (h *Handlers) listProviders(_ context.Context, _ api.Caller, in *listProvidersIn) (*api.Out[[]providerBody], error) {
	rows := providers.List()
	if len(in.SourceType) > 0 {
		rows = providers.OfTypes(in.SourceType)
	}
	body := make([]providerBody, len(rows))
	for i, p := range rows {
		logo := h.logos().URL(p.Slug)
		body[i] = providerBody{p.Name, p.Slug, p.Description, &logo, (*string)(p.AuthType), p.SupportedResources}
	}
	return api.Answer(body), nil
}

// ProviderLogos serves the pictures of providers under providers.LogoPath. They
// are public and change only with the program.
func ProviderLogos() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slug, isPicture := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, providers.LogoPath), ".svg")
		p, known := providers.Find(slug)
		if !known || !isPicture {
			api.WriteDetail(w, http.StatusNotFound, "Not Found")
			return
		}
		h := w.Header()
		h.Set("Content-Type", "image/svg+xml")
		h.Set("Cache-Control", "public, max-age=86400")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin") // teams show it on their own pages
		_, _ = w.Write(p.Logo())
	})
}
