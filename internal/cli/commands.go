package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// noun is a command that only holds verbs. Alone it prints its help; with a
// word that is no verb it refuses, where cobra would print help and succeed.
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
	c.AddCommand(verbs...)
	return c
}

// knownCommand refuses help about what is no command, where cobra would print
// that of the whole and succeed.
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

// takes checks that a command has exactly its arguments. The names are those
// of its usage line; one that ends in … may come several times, and one in
// brackets may be left out.
func takes(names ...string) cobra.PositionalArgs {
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
			return badUsagef("takes no arguments, not %s", quoted(args))
		case most > 0 && len(args) > most:
			return badUsagef("takes only %s, unexpected: %s", strings.Join(names, " "), quoted(args[most:]))
		}
		return nil
	}
}

// takesUpTo is takes for a command whose last arguments may be left out.
func takesUpTo(first string, more ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		n := min(max(len(args)-1, 0), len(more))
		return takes(append([]string{first}, more[:n]...)...)(c, args)
	}
}

func quoted(args []string) string { return fmt.Sprintf("%q", args) }

// examples indents the lines of a command's examples as cobra prints them.
func examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }
