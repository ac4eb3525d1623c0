package portal

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
)

//go:embed templates/*.html
var templateFiles embed.FS

// The pages. They share the layout.
var (
	linkPage      = parse("link.html")
	codePage      = parse("code.html")
	birthDatePage = parse("birth_date.html")
	homePage      = parse("home.html")
	orderPage     = parse("order.html")
	messagePage   = parse("message.html")
)

func parse(name string) *template.Template {
	return template.Must(template.ParseFS(templateFiles, "templates/layout.html", "templates/"+name))
}

// frame holds the fields that the layout needs.
type frame struct {
	Text  *text
	Title string
	Style string // address of the style sheet
}

// styleURL is the address of the style sheet, with a hash of its content.
var styleURL = func() string {
	css, err := staticFiles.ReadFile("static/portal.css")
	if err != nil {
		panic(err) // embedded
	}
	sum := sha256.Sum256(css)
	return stylePath + "?v=" + hex.EncodeToString(sum[:6])
}()

func frameFor(r *http.Request, title string) frame {
	return frame{Text: textFor(r), Title: title, Style: styleURL}
}

// messageView is a page with a heading and a text.
type messageView struct {
	frame
	Message message
}

func (p *Portal) renderMessage(w http.ResponseWriter, r *http.Request, status int, m message) error {
	p.render(w, status, messagePage, messageView{frame: frameFor(r, m.Title), Message: m})
	return nil
}

// render executes the template in memory first, so that an error leaves no
// half-written page.
func (p *Portal) render(w http.ResponseWriter, status int, page *template.Template, view any) {
	var buf bytes.Buffer
	if err := page.ExecuteTemplate(&buf, "layout", view); err != nil {
		p.log.Error("a template of the portal failed", "error", err)
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes())
}
