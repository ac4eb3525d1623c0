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

// The pages. Each has the layout and a content of its own.
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

// frame is what the layout needs of every page.
type frame struct {
	Text  *text
	Title string
	Style string // address of the style sheet
}

// styleURL names the version of the style sheet that this binary has.
var styleURL = func() string {
	css, err := static.ReadFile("static/portal.css")
	if err != nil {
		panic(err) // embedded
	}
	sum := sha256.Sum256(css)
	return stylePath + "?v=" + hex.EncodeToString(sum[:6])
}()

func frameFor(r *http.Request, title string) frame {
	return frame{Text: textFor(r), Title: title, Style: styleURL}
}

// messageView is a page that only says something.
type messageView struct {
	frame
	Message message
}

func (p *Portal) renderMessage(w http.ResponseWriter, r *http.Request, status int, m message) error {
	p.render(w, status, messagePage, messageView{frame: frameFor(r, m.Title), Message: m})
	return nil
}

// render runs a template into memory first, so that a failure shows no half
// page.
func (p *Portal) render(w http.ResponseWriter, status int, page *template.Template, view any) {
	var buf bytes.Buffer
	if err := page.ExecuteTemplate(&buf, "layout", view); err != nil {
		p.log.Error("portal template failed", "error", err)
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes())
}
