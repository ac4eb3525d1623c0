package docpages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// snippetText is the request of an operation in one language.
type snippetText struct{ Language, Text string }

// Snippets returns the recorded request in the languages of the page, or the form of the
// request if none was recorded.
func (o *operation) Snippets() []snippetText {
	e := o.Example
	if e == nil {
		e = &exchange{Path: o.Path}
		if o.BodyType == jsonType && len(o.Body) > 0 {
			e.Body, _ = json.Marshal(skeleton(o.Body)) // holds plain values only
		}
	}
	r := snippetRequest{method: o.Method, path: e.Path, body: e.BodyText(), headers: e.Headers, open: o.Open, file: o.BodyType != "" && o.BodyType != jsonType && len(e.Body) == 0, form: o.BodyType == formType}
	for _, f := range o.FormFields() {
		if f.Required {
			r.fields = append(r.fields, f.Name)
		}
	}
	if r.file && !r.form {
		r.headers = append(r.headers, [2]string{"Content-Type", o.BodyType})
	}
	return []snippetText{{"curl", r.curl()}, {"TypeScript", r.typeScript()}, {"Python", r.python()}, {"Go", r.golang()}}
}

// skeleton returns a body with the required fields, for operations without a recorded
// request. Without required fields it has all.
func skeleton(fields []field) map[string]any {
	body, required := map[string]any{}, slices.ContainsFunc(fields, func(f field) bool { return f.Required })
	for _, f := range fields {
		if f.Required != required || strings.ContainsAny(f.Name, "{ ") {
			continue
		}
		var value any
		switch kind := strings.TrimSuffix(f.Type, " or null"); {
		case strings.HasPrefix(kind, "list of") && len(f.Fields) > 0:
			value = []any{skeleton(f.Fields)}
		case strings.HasPrefix(kind, "list of"):
			value = []any{"…"}
		case len(f.Fields) > 0:
			value = skeleton(f.Fields)
		case kind == "integer", kind == "number":
			value = 1
		case kind == "boolean":
			value = true
		default:
			value = "…"
		}
		body[f.Name] = value
	}
	return body
}

type snippetRequest struct {
	method, path, body string
	headers            [][2]string
	open, file, form   bool
	fields             []string // of a form, beside the file
}

const formType = "multipart/form-data"

// FormFields returns the fields of a form with files that are texts.
func (o *operation) FormFields() (texts []field) {
	for _, f := range o.Body {
		if o.BodyType == formType && !strings.Contains(f.Type, "binar") {
			texts = append(texts, f)
		}
	}
	return texts
}

const keyHeader = "x-service-api-key"

func (r snippetRequest) curl() string {
	var lines []string
	first := "curl "
	if r.method != "GET" {
		first += "-X " + r.method + " "
	}
	lines = append(lines, first+`"$HALE_URL`+strings.ReplaceAll(r.path, "$", `\$`)+`"`)
	if !r.open {
		lines = append(lines, `-H "`+keyHeader+`: $HALE_API_KEY"`)
	}
	for _, h := range r.headers {
		lines = append(lines, fmt.Sprintf("-H '%s: %s'", h[0], h[1]))
	}
	switch {
	case r.body != "":
		lines = append(lines, `-H 'Content-Type: application/json'`, "-d '"+strings.ReplaceAll(r.body, "'", `'\''`)+"'")
	case r.form:
		for _, name := range r.fields {
			lines = append(lines, "-F "+name+"="+strings.ToUpper(name))
		}
		lines = append(lines, "-F file=@FILE")
	case r.file:
		lines = append(lines, "--data-binary @FILE")
	}
	return strings.Join(lines, " \\\n  ")
}

func (r snippetRequest) typeScript() string {
	var b strings.Builder
	if r.file {
		b.WriteString("import { openAsBlob } from 'node:fs';\n\n")
	}
	if r.form {
		b.WriteString("const form = new FormData();\nform.append('file', await openAsBlob('FILE'));\n")
		for _, name := range r.fields {
			fmt.Fprintf(&b, "form.append('%s', '%s');\n", name, strings.ToUpper(name))
		}
	}
	fmt.Fprintf(&b, "const answer = await fetch(process.env.HALE_URL + %s, {\n  method: '%s',\n  headers: {\n", strconv.Quote(r.path), r.method)
	if !r.open {
		b.WriteString("    '" + keyHeader + "': process.env.HALE_API_KEY!,\n")
	}
	for _, h := range r.headers {
		fmt.Fprintf(&b, "    %s: %s,\n", strconv.Quote(h[0]), strconv.Quote(h[1]))
	}
	if r.body != "" {
		b.WriteString("    'Content-Type': 'application/json',\n")
	}
	b.WriteString("  },\n")
	switch {
	case r.body != "":
		b.WriteString("  body: JSON.stringify(" + indent(r.body, "  ") + "),\n")
	case r.form:
		b.WriteString("  body: form,\n")
	case r.file:
		b.WriteString("  body: await openAsBlob('FILE'),\n")
	}
	b.WriteString("});\nif (!answer.ok) throw new Error(await answer.text());\nconsole.log(await answer.text());")
	return b.String()
}

func (r snippetRequest) python() string {
	var b strings.Builder
	b.WriteString("import os, requests\n\n")
	fmt.Fprintf(&b, "answer = requests.request(\n    %q,\n    os.environ[\"HALE_URL\"] + %s,\n    headers={\n", r.method, strconv.Quote(r.path))
	if !r.open {
		b.WriteString("        \"" + keyHeader + "\": os.environ[\"HALE_API_KEY\"],\n")
	}
	for _, h := range r.headers {
		fmt.Fprintf(&b, "        %s: %s,\n", strconv.Quote(h[0]), strconv.Quote(h[1]))
	}
	if r.body != "" {
		b.WriteString("        \"Content-Type\": \"application/json\",\n")
	}
	b.WriteString("    },\n")
	switch {
	case r.body != "":
		b.WriteString("    data=r'''" + strings.ReplaceAll(r.body, "'''", `\u0027\u0027\u0027`) + "''',\n")
	case r.form:
		b.WriteString("    files={\"file\": open(\"FILE\", \"rb\")},\n    data={")
		for i, name := range r.fields {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%q: %q", name, strings.ToUpper(name))
		}
		b.WriteString("},\n")
	case r.file:
		b.WriteString("    data=open(\"FILE\", \"rb\"),\n")
	}
	b.WriteString(")\nanswer.raise_for_status()\nprint(answer.text)")
	return b.String()
}

func (r snippetRequest) golang() string {
	var b strings.Builder
	body := "nil"
	switch {
	case r.body != "":
		b.WriteString("body := strings.NewReader(`" + strings.ReplaceAll(r.body, "`", `\u0060`) + "`)\n")
		body = "body"
	case r.form:
		b.WriteString("file, err := os.ReadFile(\"FILE\")\nif err != nil {\n\treturn err\n}\nvar body bytes.Buffer\nform := multipart.NewWriter(&body)\npart, _ := form.CreateFormFile(\"file\", \"FILE\")\npart.Write(file)\n")
		for _, name := range r.fields {
			fmt.Fprintf(&b, "form.WriteField(%q, %q)\n", name, strings.ToUpper(name))
		}
		b.WriteString("form.Close()\n")
		body = "&body"
	case r.file:
		b.WriteString("body, err := os.Open(\"FILE\")\nif err != nil {\n\treturn err\n}\n")
		body = "body"
	}
	fmt.Fprintf(&b, "req, err := http.NewRequest(%q, os.Getenv(\"HALE_URL\")+%s, %s)\nif err != nil {\n\treturn err\n}\n", r.method, strconv.Quote(r.path), body)
	if !r.open {
		b.WriteString("req.Header.Set(\"" + keyHeader + "\", os.Getenv(\"HALE_API_KEY\"))\n")
	}
	for _, h := range r.headers {
		fmt.Fprintf(&b, "req.Header.Set(%s, %s)\n", strconv.Quote(h[0]), strconv.Quote(h[1]))
	}
	switch {
	case r.body != "":
		b.WriteString("req.Header.Set(\"Content-Type\", \"application/json\")\n")
	case r.form:
		b.WriteString("req.Header.Set(\"Content-Type\", form.FormDataContentType())\n")
	}
	b.WriteString("answer, err := http.DefaultClient.Do(req)\nif err != nil {\n\treturn err\n}\ndefer answer.Body.Close()\n_, err = io.Copy(os.Stdout, answer.Body)\nreturn err")
	return b.String()
}

func indent(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }
