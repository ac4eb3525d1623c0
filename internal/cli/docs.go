package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hale/internal/docpages"
	"hale/internal/platform/fault"
)

func (s *shell) docsCommand() *cobra.Command {
	search := ""
	c := &cobra.Command{
		Use: "docs [PAGE]", Short: "read the guides, or search in them",
		Long: `Print a guide. Without PAGE, list all guides by task. The guides are in the binary: no
server and no network are needed. A running server shows them, and each operation of
the API, at /docs.`,
		Example: examples("hale docs", "hale docs webhooks", `hale docs --search "signing secret"`),
		Args:    wantArgs("[PAGE]"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case search != "" && len(args) > 0:
				return badUsagef("takes PAGE or --search, not both")
			case search != "":
				return s.searchGuides(search)
			case len(args) == 0:
				return s.listGuides()
			}
			return s.showGuide(args[0])
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, g := range docpages.Guides() {
				names = append(names, g.Name+"\t"+g.Title)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringVar(&search, "search", "", "words that the guides contain")
	return c
}

// listGuides prints the guides by task.
func (s *shell) listGuides() error {
	guides := docpages.Guides()
	if s.format != formatTable {
		return s.showValue(view{id: "page"}, guides)
	}
	width, group := 0, ""
	for _, g := range guides {
		width = max(width, len(g.Name))
	}
	for _, g := range guides {
		if g.Group != group {
			if group != "" {
				fmt.Fprintln(s.out)
			}
			group = g.Group
			fmt.Fprintln(s.out, group+":")
		}
		fmt.Fprintf(s.out, "  %-*s  %s\n", width, g.Name, g.Title)
	}
	s.say("\nhale docs PAGE prints a guide, hale docs --search WORDS finds one")
	return nil
}

func (s *shell) showGuide(name string) error {
	g, ok := docpages.FindGuide(name)
	if !ok {
		text := "no such page: " + name
		if near := docpages.NearestGuides(name); len(near) > 0 {
			text += ", did you mean " + strings.Join(near, " or ") + "?"
		}
		return withHint(fault.New(fault.NotFound, text), "hale docs lists the pages; hale docs --search WORDS finds one")
	}
	if s.format != formatTable {
		return s.showValue(view{id: "page"}, map[string]any{"page": g.Name, "group": g.Group, "title": g.Title, "summary": g.Summary, "markdown": g.Source()})
	}
	_, err := fmt.Fprint(s.out, g.Terminal(docpages.Style{Width: s.lineWidth(), Bold: s.colour}))
	return err
}

// foundGuides is the number of results that a search prints for people.
const foundGuides = 10

func (s *shell) searchGuides(words string) error {
	index := docpages.GuideIndex()
	hits := index.Search(words)
	if len(hits) == 0 {
		if near := index.Suggest(words); near != "" {
			return withHint(fault.New(fault.NotFound, fmt.Sprintf("no guide contains %q", words)), "did you mean %s?", near)
		}
		return withHint(fault.New(fault.NotFound, fmt.Sprintf("no guide contains %q", words)), "try fewer or other words; hale docs lists the pages")
	}
	if s.format != formatTable {
		return s.showValue(view{id: "name"}, hits)
	}
	for _, hit := range hits[:min(len(hits), foundGuides)] {
		fmt.Fprintf(s.out, "%s\n  hale docs %s\n", hit.Title, hit.Name)
		for _, line := range docpages.Wrap(hit.Text, s.lineWidth()-2) {
			fmt.Fprintf(s.out, "  %s\n", line)
		}
		fmt.Fprintln(s.out)
	}
	return nil
}

// lineWidth returns the length of lines for a reader: that of the terminal, at most 100.
func (s *shell) lineWidth() int {
	if out, ok := s.out.(*os.File); ok {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil && width > 0 {
			return min(width, 100)
		}
	}
	return 80
}
