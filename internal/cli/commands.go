package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// noun turns c into a command that only groups verbs. Without arguments it prints its
// help. It refuses an unknown verb, for which cobra would print help and succeed.
func noun(c *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		text := "no such command: " + args[0]
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			text += ", did you mean " + strings.Join(near, " or ") + "?"
		}
		return badUsagef("%s", text)
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.SuggestionsMinimumDistance = 2
	c.DisableFlagsInUseLine = true
	for _, verb := range verbs {
		verb.SuggestFor = append(verb.SuggestFor, synonyms[verb.Name()]...)
	}
	c.AddCommand(verbs...)
	return c
}

// synonyms are verbs that people try, by the verb of this program.
var synonyms = map[string][]string{
	"add":    {"create", "new"},
	"create": {"add", "new"},
	"delete": {"remove", "rm"},
	"get":    {"show", "describe"},
	"list":   {"ls"},
	"remove": {"delete", "rm"},
	"show":   {"get", "describe"},
	"update": {"edit", "set", "change"},
}

// knownCommand refuses help about an unknown command. cobra would print the general help
// and succeed.
func knownCommand(c *cobra.Command, args []string) error {
	found, rest, err := c.Root().Find(args)
	if err == nil && len(rest) > 0 {
		err = found.Args(found, rest)
		if !found.HasSubCommands() {
			err = nil // its arguments
		}
	}
	return withHint(err, "hale help lists the commands")
}

// wantArgs returns a check that a command has exactly these arguments. The names are those
// of its usage line. For a name that ends in … there may be several arguments. A name in
// brackets is optional.
func wantArgs(names ...string) cobra.PositionalArgs {
	least, most := len(names), len(names)
	for _, name := range names {
		switch {
		case strings.HasSuffix(name, "…"):
			most = -1
		case strings.HasPrefix(name, "["):
			least--
		}
	}
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return badUsagef("needs %s", strings.TrimSuffix(names[len(names)-least+len(args)], "…"))
		case most == 0 && len(args) > 0:
			return badUsagef("takes no arguments, not %s", quoteWords(args))
		case most > 0 && len(args) > most:
			return badUsagef("takes only %s, unexpected: %s", strings.Join(names, " "), quoteWords(args[most:]))
		}
		return nil
	}
}

// wantArgsUpTo returns a check like wantArgs, for a command whose arguments after the first are
// optional.
func wantArgsUpTo(first string, more ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		n := min(max(len(args)-1, 0), len(more))
		return wantArgs(append([]string{first}, more[:n]...)...)(c, args)
	}
}

func quoteWords(args []string) string { return fmt.Sprintf("%q", args) }

// examples indents the lines of a command's examples as cobra prints them.
func examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }
