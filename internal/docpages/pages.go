package docpages

import (
	"bytes"
	"embed"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"hale/docs"
)

// Addresses of the pages.
const (
	rootPath       = "/docs"
	guidesPath     = "/docs/guides/"
	operationsPath = "/docs/operations/"
	searchPath     = "/docs/search"
	staticPath     = "/docs/static/"
	programsPath   = "/docs/examples/"
)

//go:embed templates static
var files embed.FS

// site serves the pages.
type site struct {
	log       *slog.Logger
	notFound  http.HandlerFunc // for programs
	reference func() *reference
	index     func() *Index
}

// Mount adds the pages to a router. doc is read at the first request, when all operations
// are in it. notFound answers programs that ask for a page that does not exist.
func Mount(router chi.Router, log *slog.Logger, doc *huma.OpenAPI, notFound http.HandlerFunc) {
	s := &site{log: log, notFound: notFound}
	s.reference = sync.OnceValue(func() *reference { return newReference(doc) })
	s.index = sync.OnceValue(func() *Index { return newIndex(s.reference()) })
	router.Get(rootPath, s.showReference)
	router.Get(operationsPath+"{id}", s.showOperation)
	router.Get(strings.TrimSuffix(guidesPath, "/"), s.showGuides)
	router.Get(guidesPath+"{page}", s.showGuide)
	router.Get(searchPath, s.showSearch)
	router.Get(staticPath+"{file}", s.serveStatic)
	router.Get(programsPath+"{file}", s.serveProgram)
	router.Get(rootPath+"/*", func(w http.ResponseWriter, r *http.Request) { s.showMissing(w, r, "page", nil) })
}

// page is the content of every template.
type page struct {
	Title string
	Part  string // guides or reference: the marked link of the head
	Query string
	// Suggestion is a query with other words, for one without results.
	Suggestion string
	Body       any
}

var pageTemplates = parseTemplates("reference", "operation", "guides", "guide", "search", "missing")

func parseTemplates(names ...string) map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, name := range names {
		all[name] = template.Must(template.New("layout.html").Funcs(template.FuncMap{"lower": strings.ToLower}).
			ParseFS(files, "templates/layout.html", "templates/fields.html", "templates/"+name+".html"))
	}
	return all
}

// pagePolicy allows only the service's own style sheet, script and icon, requests to the
// service itself, and the search form.
const pagePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func (s *site) write(w http.ResponseWriter, status int, name string, p page) {
	var body bytes.Buffer
	if err := pageTemplates[name].Execute(&body, p); err != nil {
		s.log.Error("a page of the docs cannot be written", "page", name, "error", err)
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

func (s *site) showReference(w http.ResponseWriter, _ *http.Request) {
	s.write(w, http.StatusOK, "reference", page{Title: "API reference", Part: "reference", Body: s.reference()})
}

func (s *site) showOperation(w http.ResponseWriter, r *http.Request) {
	o := s.reference().byID[chi.URLParam(r, "id")]
	if o == nil {
		s.showMissing(w, r, "operation", nil)
		return
	}
	s.write(w, http.StatusOK, "operation", page{Title: o.Title, Part: "reference", Body: map[string]any{"Operation": o, "Header": s.reference().Header}})
}

func (s *site) showGuides(w http.ResponseWriter, _ *http.Request) {
	type group struct {
		Title  string
		Guides []*Guide
	}
	var groups []group
	for _, g := range Guides() {
		if len(groups) == 0 || groups[len(groups)-1].Title != g.Group {
			groups = append(groups, group{Title: g.Group})
		}
		last := &groups[len(groups)-1]
		last.Guides = append(last.Guides, g)
	}
	s.write(w, http.StatusOK, "guides", page{Title: "Guides", Part: "guides", Body: groups})
}

func (s *site) showGuide(w http.ResponseWriter, r *http.Request) {
	name := chi.URLParam(r, "page")
	g, ok := FindGuide(name)
	if !ok {
		s.showMissing(w, r, "guide", NearestGuides(name))
		return
	}
	if g.Name != name {
		http.Redirect(w, r, g.Path(), http.StatusMovedPermanently)
		return
	}
	html, err := g.renderHTML()
	if err != nil {
		s.log.Error("a guide cannot be rendered", "page", g.Name, "error", err)
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	var sections []heading
	for _, h := range headingsOf(g.tree, g.source) {
		if h.Level == 2 {
			sections = append(sections, h)
		}
	}
	all, before, after := Guides(), (*Guide)(nil), (*Guide)(nil)
	for i := range all {
		if all[i] == g && i > 0 {
			before = all[i-1]
		}
		if all[i] == g && i+1 < len(all) {
			after = all[i+1]
		}
	}
	s.write(w, http.StatusOK, "guide", page{Title: g.Title, Part: "guides", Body: map[string]any{"Guide": g, "HTML": html, "Sections": sections, "Before": before, "After": after}})
}

// mostQuery is the length of a search text that is read.
const mostQuery = 200

func (s *site) showSearch(w http.ResponseWriter, r *http.Request) {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(query) > mostQuery {
		query = strings.ToValidUTF8(query[:mostQuery], "")
	}
	found := page{Title: "Search", Part: "search", Query: query}
	if hits := s.index().Search(query); len(hits) > 0 {
		found.Body = hits
	} else {
		found.Suggestion = s.index().Suggest(query)
	}
	s.write(w, http.StatusOK, "search", found)
}

// WantsHTML reports whether a request comes from a browser rather than a program.
func WantsHTML(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// showMissing answers a browser with a page, and a program with the JSON of the API.
func (s *site) showMissing(w http.ResponseWriter, r *http.Request, kind string, near []string) {
	w.Header().Add("Vary", "Accept")
	if !WantsHTML(r) {
		s.notFound(w, r)
		return
	}
	s.write(w, http.StatusNotFound, "missing", page{Title: "No such " + kind, Body: map[string]any{"Kind": kind, "Near": near}})
}

var staticTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

func (s *site) serveStatic(w http.ResponseWriter, r *http.Request) {
	name := chi.URLParam(r, "file")
	body, err := files.ReadFile("static/" + name)
	if err != nil {
		s.showMissing(w, r, "file", nil)
		return
	}
	w.Header().Set("Content-Type", staticTypes[name[strings.LastIndexByte(name, '.'):]])
	_, _ = w.Write(body)
}

// serveProgram serves a program that a guide describes.
func (s *site) serveProgram(w http.ResponseWriter, r *http.Request) {
	body, err := docs.Files.ReadFile("examples/" + chi.URLParam(r, "file"))
	if err != nil {
		s.showMissing(w, r, "file", nil)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(body)
}
