package internal_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The tests in this file enforce the part of the language rules that a program
// can check. CONTRIBUTING.md lists all of them.

var englishBelow = flag.String("english", "", "check only files below these folders, separated by commas")

// avoided lists wordings that a reader in another country has to read twice,
// and the plain replacement.
var avoided = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(nobody|somebody|anybody|whoever|whom)\b`), "name the subject"},
	{regexp.MustCompile(`(?i)\banew\b`), "again, or the exact verb"},
	{regexp.MustCompile(`(?i)\b(all|what|who|(every|no|some|any)(thing|body|one))\s+else\b`), "name the other thing"},
	{regexp.MustCompile(`(?i)\bcomes? once more\b`), "is repeated"},
	{regexp.MustCompile(`(?i)\b(goes|go|went|gone|going) on\b`), "continue, resume"},
	{regexp.MustCompile(`(?i)\btold\b`), "notified, announced, stated, or name the message"},
	{regexp.MustCompile(`(?i)(^|[^.\w])drills?\b`), "rehearsal"},
	{regexp.MustCompile(`(?i)\b(homeless|tells? (that|whether|of))\b`), "reports, means, distinguishes"},
	{regexp.MustCompile(`(?i)\bof no consequence\b|\bhas no home\b|\bno home\b`), "say what happens"},
	{regexp.MustCompile(`(?i)\bsave (for|that)\b`), "except"},
	{regexp.MustCompile(`(?i)\bmade of\b`), "name the relation: consists of, contains, from"},
	{regexp.MustCompile(`(?i)\blies (in|at|beside|there|on|by|below|above)\b`), "is in, is at"},
	{regexp.MustCompile(`(?i)\b(stands?|stood) (in|at|under|there|beside|on|by|below|above|here|apart|alone)\b`), "is in, is at"},
	{regexp.MustCompile(`(?i)\bin hand\b`), "claimed, in progress"},
}

var (
	// defined matches a comment that defines a name with a question word.
	defined = regexp.MustCompile(`^\S+ (is|are) (what|who|whose|whether|how|where|when|why)\b`)
	// question matches a sentence whose subject is a clause.
	question = regexp.MustCompile(`(^|[.:] )(What|Who|Whose|Whatever) [^?]*$`)
	// endOfSentence matches the end of a sentence, also of one in parentheses.
	endOfSentence = regexp.MustCompile(`[.!?]\)? `)
	// sql matches SQL, which is no sentence.
	sql = regexp.MustCompile(`\b(SELECT|FROM|WHERE|INSERT|UPDATE|VALUES|CONFLICT)\b`)
)

// preformatted matches the lines of a comment that are indented by a tab, and the
// markers of lists. Neither is part of a sentence.
var preformatted = regexp.MustCompile(`(?m)^\t.*$|^ +(-|\d+\.) `)

func TestCommentsAreInPlainEnglish(t *testing.T) {
	for file := range goFiles(t) {
		for _, group := range file.syntax.Comments {
			text := strings.Join(strings.Fields(preformatted.ReplaceAllString(group.Text(), ". ")), " ")
			report := func(problem string) {
				t.Errorf("%s: %s: %s", file.position(group.Pos()), problem, shorten(text))
			}
			checkWording(text, maxSentence, report)
			if defined.MatchString(text) {
				report("start with the noun or the verb, not with a definition")
			}
		}
	}
}

// A function acts: its comment says what it returns, reports or changes.
func TestFunctionCommentsSayWhatTheFunctionDoes(t *testing.T) {
	for file := range goFiles(t) {
		for _, decl := range file.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			words := strings.Fields(fn.Doc.Text())
			if len(words) > 1 && words[0] == fn.Name.Name && slices.Contains(noAction, words[1]) {
				t.Errorf("%s: start with a verb, such as returns or reports: %s", file.position(fn.Pos()), shorten(fn.Doc.Text()))
			}
		}
	}
}

// noAction lists the verbs that say what something is, not what it does.
var noAction = []string{"is", "are", "was", "were", "has", "have"}

// Texts for people are help, errors and log messages: any string with a space
// in it that is part of the program.
func TestTextsAreInPlainEnglish(t *testing.T) {
	for file := range goFiles(t) {
		check := func(text string, report func(problem string)) { checkWording(text, maxText, report) }
		if strings.HasSuffix(file.name, "_test.go") {
			check = checkWords
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if ok && text.Kind == token.STRING && strings.Contains(text.Value, " ") {
				check(text.Value, func(problem string) {
					t.Errorf("%s: %s: %s", file.position(text.Pos()), problem, shorten(text.Value))
				})
			}
			return true
		})
	}
}

// The reason of an exception from a linter is a comment that Text of a comment group omits.
func TestReasonsOfLintExceptionsAreInPlainEnglish(t *testing.T) {
	for file := range goFiles(t) {
		for _, group := range file.syntax.Comments {
			for _, comment := range group.List {
				if _, reason, ok := strings.Cut(comment.Text, "//nolint:"); ok {
					checkWording(reason, maxSentence, func(problem string) {
						t.Errorf("%s: %s: %s", file.position(comment.Pos()), problem, shorten(reason))
					})
				}
			}
		}
	}
}

// fragment matches a text without a subject: a preposition, or a word of a question.
var fragment = regexp.MustCompile(`^(Of|By|As|From|To|In|At|On|For|With|Without|Until|Since|Null|Such|So|Why|How|Where|Whose|Which|What|When|Who|Instead|Not|Needed|Only)\b`)

// Descriptions of fields and parameters are struct tags.
func TestDescriptionsOfFieldsAreInPlainEnglish(t *testing.T) {
	for file := range goFiles(t) {
		if strings.HasSuffix(file.name, "_test.go") {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			checkDescription(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("doc"), func(problem string, text string) {
				t.Errorf("%s: %s: %s", file.position(field.Pos()), problem, shorten(text))
			})
			return true
		})
	}
}

// Programs write some descriptions, so that only the OpenAPI document has all of
// them, and the summaries of all operations.
func TestTheOpenAPIDocumentIsInPlainEnglish(t *testing.T) {
	content, err := os.ReadFile("../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for text := range descriptions(document) {
		if seen[text] {
			continue
		}
		seen[text] = true
		checkDescription(text, func(problem string, text string) { t.Errorf("docs/openapi.json: %s: %s", problem, shorten(text)) })
	}
}

// descriptions yields the summaries and descriptions of a JSON document.
func descriptions(value any) iter.Seq[string] {
	return func(yield func(string) bool) {
		var walk func(any) bool
		walk = func(value any) bool {
			switch v := value.(type) {
			case map[string]any:
				for _, name := range slices.Sorted(maps.Keys(v)) {
					if text, ok := v[name].(string); ok && (name == "summary" || name == "description") {
						if !yield(text) {
							return false
						}
					} else if !walk(v[name]) {
						return false
					}
				}
			case []any:
				for _, element := range v {
					if !walk(element) {
						return false
					}
				}
			}
			return true
		}
		walk(value)
	}
}

func checkDescription(text string, report func(problem string, text string)) {
	for line := range strings.SplitSeq(text, "\n") {
		if notProse.MatchString(line) {
			continue
		}
		problem := func(problem string) { report(problem, line) }
		checkWording(line, maxSentence, problem)
		if found := fragment.FindString(line); found != "" {
			problem("a fragment that begins with “" + found + "”: begin with a noun or a verb")
		}
	}
}

// checkWords reports the avoided words of a text.
func checkWords(text string, report func(problem string)) {
	for _, a := range avoided {
		if found := a.pattern.FindString(text); found != "" {
			report("avoid “" + found + "” (" + a.instead + ")")
		}
	}
}

// checkWording reports avoided words, and sentences that are too long or have a clause as
// their subject.
func checkWording(text string, most int, report func(problem string)) {
	checkWords(text, report)
	for sentence := range strings.SplitSeq(text, ". ") {
		if question.MatchString(sentence) {
			report("the subject is a clause: name it")
		}
	}
	for _, sentence := range endOfSentence.Split(text, -1) {
		if n := len(strings.Fields(sentence)); n > most && !sql.MatchString(sentence) {
			report(fmt.Sprintf("a sentence of %d words, more than %d: split it", n, most))
		}
	}
}

// Texts of programs may be tables, pages or statements, so their limit is higher.
const (
	maxSentence  = 25
	maxText      = 40
	maxParagraph = 80
	maxCell      = 60
)

// notProse matches a line of a description that is not part of a sentence.
var notProse = regexp.MustCompile(`^(\||#|- |\* |\d+\. |    |>|<)`)

func TestDocumentsAreInPlainEnglish(t *testing.T) {
	for name := range documents(t) {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		most := maxSentence
		if strings.Contains(string(content), "This page is generated") {
			most = maxText
		}
		for _, b := range blocksOf(string(content)) {
			b.check(most, func(problem string) {
				t.Errorf("%s: %s: %s", strings.TrimPrefix(name, "../"), problem, shorten(b.text))
			})
		}
	}
}

// block is one text of a page. The lines of a paragraph are joined.
type block struct {
	kind blockKind
	text string
}

type blockKind int

const (
	paragraphBlock blockKind = iota // also a list item, a heading and a quotation
	cellBlock
	headerBlock // a cell of a table's first row
)

var (
	fence     = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	cellEnd   = regexp.MustCompile(`^\||([^\\])\|`)
	delimiter = regexp.MustCompile(`^[-: ]*$`)
	listItem  = regexp.MustCompile(`^([-*>]|\d+\.|#+) `)
	// noNoun matches the header of a column that begins with a verb, a participle
	// alone, a question word or a preposition.
	noNoun = regexp.MustCompile(`(?i)^(stored|sent|kept|given|found|sealed|cleared|created|protected|valid|needed|used)( (as|for|by|in|to|at|on|with))?$` +
		`|^(for|from|to|within|with|without|now|before|after|clear|seals)$` +
		`|^(expect|do|get|has|have|needs?|must|selects?|deletes?|separates|follows|grows|reduce|reported|why|where|when|until|how|what|instead|reaches)\b` +
		`|^(during|after|before|in|on|for|to|by|with) .|\bis (sent|null)$`)
)

// blocksOf returns the texts of a Markdown page, without code.
func blocksOf(page string) (all []block) {
	continues, table := false, false
	for line := range strings.SplitSeq(fence.ReplaceAllString(page, ""), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "|"):
			cells := strings.Split(strings.Trim(cellEnd.ReplaceAllString(line, "${1}\x00"), "\x00"), "\x00")
			kind := cellBlock
			if !table {
				kind = headerBlock
			}
			for _, cell := range cells {
				if !delimiter.MatchString(cell) {
					all = append(all, block{kind, strings.TrimSpace(cell)})
				}
			}
		case line == "":
		case continues && !listItem.MatchString(line):
			all[len(all)-1].text += " " + line
		default:
			all = append(all, block{paragraphBlock, line})
		}
		table = strings.HasPrefix(line, "|")
		continues = line != "" && !table && !strings.HasPrefix(line, "#")
	}
	return all
}

func (b block) check(most int, report func(problem string)) {
	checkWording(b.text, most, report)
	words := len(strings.Fields(b.text))
	switch {
	case b.kind == headerBlock && noNoun.MatchString(b.text):
		report("the header of a column is a noun")
	case b.kind == cellBlock && words > maxCell:
		report(fmt.Sprintf("a cell of %d words, more than %d: add a row, or a paragraph", words, maxCell))
	case b.kind == paragraphBlock && words > maxParagraph && !strings.HasPrefix(b.text, "<"):
		report(fmt.Sprintf("a paragraph of %d words, more than %d: split it", words, maxParagraph))
	}
}

func TestBlocksOf(t *testing.T) {
	page := "# Title\nOne\ntwo.\n\n- An item\n  continues\n2. Next\n   ```sh\n   code\n   ```\n\n   | Name | Stored as |\n   |---|:-:|\n   | `a\\|b` | | \n|c|d|\n\n| Header |\n"
	want := []block{
		{paragraphBlock, "# Title"},
		{paragraphBlock, "One two."},
		{paragraphBlock, "- An item continues"},
		{paragraphBlock, "2. Next"},
		{headerBlock, "Name"},
		{headerBlock, "Stored as"},
		{cellBlock, "`a\\|b`"},
		{cellBlock, "c"},
		{cellBlock, "d"},
		{headerBlock, "Header"},
	}
	if got := blocksOf(page); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestCheckOfBlocks(t *testing.T) {
	sentence := func(words int) string { return strings.TrimSpace(strings.Repeat("word ", words)) + ". " }
	for _, c := range []struct {
		block    block
		problems int
	}{
		{block{paragraphBlock, sentence(25)}, 0},
		{block{paragraphBlock, sentence(26)}, 1},
		{block{paragraphBlock, "- " + sentence(19) + sentence(20) + sentence(20) + sentence(20)}, 0},
		{block{paragraphBlock, "- " + sentence(20) + sentence(20) + sentence(20) + sentence(20)}, 1},
		{block{cellBlock, sentence(20) + sentence(20) + sentence(20)}, 0},
		{block{cellBlock, sentence(20) + sentence(20) + sentence(21)}, 1},
		{block{headerBlock, "Stored form"}, 0},
		{block{headerBlock, "To"}, 1},
		{block{headerBlock, "Before"}, 1},
		{block{headerBlock, "Old status"}, 0},
		{block{headerBlock, "Stored as"}, 1},
		{block{headerBlock, "Sent for"}, 1},
		{block{headerBlock, "Do this"}, 1},
		{block{headerBlock, "Why"}, 1},
		{block{headerBlock, "Why in clear"}, 1},
		{block{headerBlock, "Needs"}, 1},
		{block{headerBlock, "Given"}, 1},
		{block{headerBlock, "`event` is null"}, 1},
	} {
		problems := 0
		c.block.check(maxSentence, func(string) { problems++ })
		if problems != c.problems {
			t.Errorf("%q: %d problems, want %d", shorten(c.block.text), problems, c.problems)
		}
	}
}

// bare lists words that say nothing alone: prepositions, pronouns, adverbs and
// participles.
var bare = strings.Fields(`
	of at in on by to for from with without within about above below before after beside besides between beyond
	over under until since against among along around across through toward towards upon
	it its they them who whom whose what which that this these those one ones other others another own all any both each
	every few many most much more less none some such same self both either neither
	again anew already also always ever never only just still soon late early twice here there then now when
	where why how so too very well apart together away back forth aside alone alike else perhaps enough
	meant told kept said held heard gone known made seen taken given left lost brought bought caught felt
	found understood shown drawn grown thrown worn borne spoken chosen begun done been had
	asked answered heeded wanted needed used noted named called placed passed
	handed carried waited counted joined listed moved opened parted paired picked pointed
	pushed pulled reached reckoned ruled saved settled shared spared started stated stopped
	stored taken thought tried turned typed united voiced watched wished worked written
	allowed believed believable due fresh idle sure unsure wrong right true good bad best worst
	small large big short long old young next last first second third
	earlier later outside inside exactly hinted plainly proven eaten half nothing everything something anything
	unheard natural newest whole nearly strayed largest longest uncounted
	absent absolute accepted added affected ambiguous applied arrived assigned attached attempted balanced bigger
	blank blocked bold booked broken built bypassed cached canceled cancelled cheap checked claimed cleared coarse
	comfortable common completed compressed confirmed connected continued converted copied corrected covered
	crossing current dark dead delivered demanded dense detached different direct disabled distinct divided doubled
	dropped enabled enqueued erased european excepted exchanged excluded existing expected expired extended faintest
	fallen false fewer filled filtered final finer finished focused followed forbidden foreign forgotten forwarded
	further generated gentle global greater guarded hidden higher hostile identical ignored immediate indented
	 invalid irregular isolated labelled least legal linked listening locked loose lower lowest lying
	marshalled masked matched micro midway mixed modern monospace moving mutual near nearest negative noisy normal
	nowhere numbered occupied odd older optional ordered ordinary ours overdue owed owned padded parallel parsed
	pascal passing planned plausible pooled poor prepared presented printed private public pure pushable queued
	quick quiet raised ranked rare ready received recent registered related released remaining removed repeated
	replaced required rescaled resolved restored retried returned revised rich roomy rough rounded running safe
	sampled scaled scheduled sealed sensitive separate several shredding shrunk signed silent similar simple single
	sized skipped slower soft sorted special spread standing static steady strict strictly strong stuck succeeded
	succeeding sudden suspended tagged tested tight timed tolerated traced trusted unassigned uncertain unchanged
	unclear unconfirmed undone unescaped unique unlimited unlinked unopened unplaced unprocessable unread unsafe
	unstated unused unwritten upright useful usual various verified visible waiting warm wasted weak wired wrapped
	aligned bounded capped climbed computed dated declared decoded derived expired floated floating folded gathered
	glanced grouped injected invented keyed lasts measured monitored overlaid overlapping oxygened recorded reduced
	selected slept spelled stale stated stepped strapped swum telling touched truncated unclosed unexpected unlike
	unmeasured varied widened wider zipped deepest farthest greatest highest newer elsewhere itself
	shifted noted ended escaped homeless quiets ahead valid alongside free plain flat earliest external missing`)

// bareAllowed lists the exceptions, each with its reason.
var bareAllowed = map[string]string{
	"../internal/platform/store/storetest.Each": "500 tests call storetest.Each: the package says what each",
	"../internal/platform/jobs.RetryLater":      "20 packages return jobs.RetryLater(wait): the package says what runs later",
	"../internal/platform/blocks.second":        "a unit of time",
	"../internal/platform/rows.second":          "a unit of time",
	"../internal/wearables/formats/fit.second":  "a unit of time",
}

// Types, functions, variables and constants of a package contain a noun or a verb.
// The constants of a type may be participles, as the words of a status are.
func TestPackageNamesSayWhatTheyAre(t *testing.T) {
	for file := range goFiles(t) {
		for _, name := range packageNames(file.syntax) {
			if slices.Contains(bare, strings.ToLower(name.Name)) && bareAllowed[file.dir+"."+name.Name] == "" {
				t.Errorf("%s: %s.%s names nothing: add a noun or a verb", file.position(name.Pos()), file.dir, name.Name)
			}
		}
	}
}

// notInMembers lists words that no method and no field may have as its whole name. There
// are too many bare names of both to forbid all of them.
var notInMembers = strings.Fields(`tell told homeless noted shifted escaped beat choosy another during dead deaths`)

func TestMethodsAndFieldsAvoidPrivateWords(t *testing.T) {
	for file := range goFiles(t) {
		for name := range memberNames(file.syntax) {
			if slices.Contains(notInMembers, strings.ToLower(name.Name)) {
				t.Errorf("%s: %s names nothing: add a noun or a verb", file.position(name.Pos()), name.Name)
			}
		}
	}
}

// memberNames yields the names of the methods of a file, and of the fields of its structs.
func memberNames(file *ast.File) iter.Seq[*ast.Ident] {
	return func(yield func(*ast.Ident) bool) {
		for node := range ast.Preorder(file) {
			var names []*ast.Ident
			switch n := node.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					names = append(names, n.Name)
				}
			case *ast.StructType:
				for _, field := range n.Fields.List {
					names = append(names, field.Names...)
				}
			case *ast.InterfaceType:
				for _, method := range n.Methods.List {
					names = append(names, method.Names...)
				}
			}
			for _, name := range names {
				if !yield(name) {
					return
				}
			}
		}
	}
}

func packageNames(file *ast.File) (all []*ast.Ident) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				all = append(all, d.Name)
			}
		case *ast.GenDecl:
			typed := false
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					all = append(all, s.Name)
				case *ast.ValueSpec:
					if d.Tok == token.VAR {
						all = append(all, s.Names...)
						continue
					}
					// A constant without a value has the type of the one before it.
					if typed = s.Type != nil || typed && len(s.Values) == 0; !typed {
						all = append(all, s.Names...)
					}
				}
			}
		}
	}
	return all
}

// notFileNames lists words that say nothing about a file.
var notFileNames = strings.Fields(`
	bell thrift crowd shelf whose said nobody late left told kept wrong again both alike beside anew meant said
	beats heldup parcel courier fresh staff bury plant drill drills beyond within without few many much
	own other others people persons whole twice once ends end said
	heard asked given taken lost gone rig trial believable contradict
	postbox doubtful onenumber treat take madeup strays settle`)

// bareFileNames lists words that need a noun beside them.
var bareFileNames = strings.Fields(`same followed hidden early closed changed side coarse foreign wall hold two ahead first dots strap lean`)

// fileNamesAllowed lists the exceptions, each with its reason.
var fileNamesAllowed = map[string]string{}

func TestFileNamesUseTheTermsOfTheField(t *testing.T) {
	for file := range goFiles(t) {
		base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file.name), ".go"), "_test")
		if slices.Contains(bareFileNames, base) {
			t.Errorf("%s: “%s” needs a noun beside it", filepath.ToSlash(file.name), base)
		}
		for part := range strings.SplitSeq(base, "_") {
			if slices.Contains(notFileNames, part) && fileNamesAllowed[filepath.ToSlash(file.name)] == "" {
				t.Errorf("%s: “%s” is no term of the field", filepath.ToSlash(file.name), part)
			}
		}
	}
}

// notInTestNames lists words that describe a test in private language. The name of a
// test states what is tested, in the terms of the field.
var notInTestNames = strings.Fields(`Scene Telling Nobody Somebody Whoever Stands Door Begun Goes Heard Said Speak Speaks
	Outlive Outlives Ration Rationed Stranded Anew Else Wins Letter Postbox Desk Crowd
	Tells Tell Told Beyond Strays`)

func TestTestNamesArePlain(t *testing.T) {
	for file := range goFiles(t) {
		for _, name := range packageNames(file.syntax) {
			if !testName.MatchString(name.Name) || !strings.HasSuffix(file.name, "_test.go") {
				continue
			}
			for _, word := range camelWord.FindAllString(name.Name, -1) {
				if slices.Contains(notInTestNames, word) {
					t.Errorf("%s: %s: “%s” is no term of the field", file.position(name.Pos()), name.Name, word)
				}
			}
		}
	}
}

var (
	testName  = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z]`)
	camelWord = regexp.MustCompile(`[A-Z][a-z]*`)
)

func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 160 {
		return text[:160] + "…"
	}
	return text
}

// goFile is any Go file of the module, tests included.
type goFile struct {
	source
	name string
}

// goFiles yields the Go files of the module, except generated ones.
func goFiles(t *testing.T) func(yield func(goFile) bool) {
	t.Helper()
	return func(yield func(goFile) bool) {
		for name := range tree(t, ".go") {
			if strings.HasSuffix(name, "_gen.go") || strings.HasSuffix(name, "english_test.go") {
				continue
			}
			set := token.NewFileSet()
			syntax, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(goFile{source{filepath.ToSlash(filepath.Dir(name)), set, syntax}, name}) {
				return
			}
		}
	}
}

// markers match the beginning of a comment, by the extension of a file. A Makefile has
// none. A target's help begins with two signs.
var markers = map[string]*regexp.Regexp{
	"":     regexp.MustCompile(`(^|\s)##? `),
	".mjs": regexp.MustCompile(`(^|\s)// `),
	".sh":  regexp.MustCompile(`(^|\s)# `),
	".sql": regexp.MustCompile(`(^|\s)-- `),
}

// annotation matches a comment of a migration that programs read.
var annotation = regexp.MustCompile(`^(\+goose|(postgres|sqlite): )`)

func TestCommentsOfOtherFilesAreInPlainEnglish(t *testing.T) {
	names := []string{"../Makefile"}
	for _, extension := range []string{".mjs", ".sh", ".sql"} {
		names = slices.AppendSeq(names, tree(t, extension))
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range commentsOf(string(content), markers[filepath.Ext(name)]) {
			checkWording(text, maxSentence, func(problem string) {
				t.Errorf("%s: %s: %s", strings.TrimPrefix(name, "../"), problem, shorten(text))
			})
		}
	}
}

// commentsOf returns the comments of a file. Successive lines are one comment, except
// lines that are indented or follow code.
func commentsOf(content string, marker *regexp.Regexp) (all []string) {
	continues := false
	for line := range strings.SplitSeq(content, "\n") {
		at := marker.FindStringIndex(line)
		if at == nil {
			continues = false
			continue
		}
		text := line[at[1]:]
		alone := strings.TrimSpace(line[:at[0]]) == "" && !strings.HasPrefix(text, " ")
		switch {
		case annotation.MatchString(text):
			alone = false
		case continues && alone:
			all[len(all)-1] += " " + text
		default:
			all = append(all, text)
		}
		continues = alone
	}
	return all
}

func TestCommentsOf(t *testing.T) {
	content := "-- +goose Up\n\n-- One row.\n-- Two lines.\nid UUID, -- of a user\n-- sqlite: begin\n--   indented\n-- last"
	want := []string{"One row. Two lines.", "of a user", "  indented", "last"}
	if got := commentsOf(content, markers[".sql"]); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func documents(t *testing.T) func(yield func(string) bool) {
	return tree(t, ".md")
}

// tree yields the files of the repository with an extension.
func tree(t *testing.T, extension string) func(yield func(string) bool) {
	t.Helper()
	return func(yield func(string) bool) {
		err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() {
				if base := entry.Name(); base != ".." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "testdata") {
					return filepath.SkipDir
				}
				return nil
			}
			if filepath.Ext(name) != extension || !below(name) {
				return nil
			}
			if !yield(name) {
				return filepath.SkipAll
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func below(name string) bool {
	if *englishBelow == "" {
		return true
	}
	for dir := range strings.SplitSeq(*englishBelow, ",") {
		dir = strings.TrimSuffix(strings.TrimPrefix(dir, "./"), "/")
		if rest := strings.TrimPrefix(filepath.ToSlash(name), "../"); rest == dir || strings.HasPrefix(rest, dir+"/") {
			return true
		}
	}
	return false
}
