package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hale/internal/cli/client"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
)

// These functions turn errors into texts for people. The texts use the words of the
// command line, not those of the code or of the API's fields.

// plainError is an error with its own text. Its cause decides the exit code.
type plainError struct {
	error
	text string
}

func (e *plainError) Error() string { return e.text }

func (e *plainError) Unwrap() error { return e.error }

func sayingf(err error, format string, args ...any) error {
	return &plainError{err, fmt.Sprintf(format, args...)}
}

// textOf returns the text of an error for people.
func textOf(command *cobra.Command, err error) string {
	var own *plainError
	if errors.As(err, &own) {
		return own.text
	}
	var answer *client.Error
	if errors.As(err, &answer) && isUnknownPath(answer) {
		return "the API has no such path"
	}
	if problems := problemsOf(err); len(problems) > 0 {
		parts := make([]string, len(problems))
		for i, p := range problems {
			parts[i] = sentence(placeOf(command, p.Loc), p.Msg)
		}
		return strings.Join(parts, "; ")
	}
	return withoutPackage(err.Error())
}

// problemsOf returns the invalid fields that an error of the server or of this program
// names.
func problemsOf(err error) []client.Problem {
	var answer *client.Error
	if errors.As(err, &answer) {
		return answer.Problems
	}
	var list fault.List
	var one *fault.Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one) && len(one.Loc()) > 0:
		list = fault.List{one}
	}
	problems := make([]client.Problem, len(list))
	for i, e := range list {
		if loc := e.Loc(); len(loc) > 0 {
			problems[i].Loc = loc[1:] // body, query or path
		}
		problems[i].Msg = e.Message()
	}
	return problems
}

// placeOf names the input for a field: a flag, an argument, or the field's own name.
// Annotations name flags whose names differ from their fields.
func placeOf(command *cobra.Command, loc []string) string {
	for len(loc) > 1 && isNumber(loc[len(loc)-1]) { // of a list that a flag holds
		loc = loc[:len(loc)-1]
	}
	field := strings.Join(loc, ".")
	if typed := annotation(command, field); typed != "" {
		return typed
	}
	if flag := strings.ReplaceAll(field, "_", "-"); command.Flags().Lookup(flag) != nil {
		return "--" + flag
	}
	if argument := strings.ToUpper(field); slices.Contains(strings.Fields(command.Use), argument) {
		return argument
	}
	return field
}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// commandWords replaces the beginnings of messages about bad fields.
var commandWords = strings.NewReplacer(
	"Input should be greater than or equal to ", "must be at least ",
	"Input should be less than or equal to ", "must be at most ",
	"Input should be ", "must be ",
	"String should have ", "must have ",
	"List should have ", "must have ",
	"Field required", "is missing",
	"Value error, ", "",
	"; see GET /v2/webhooks/event_types", "",
)

// sentence returns a sentence about the wrong value at a place.
func sentence(place, msg string) string {
	if words, ok := strings.CutPrefix(msg, "Input should be '"); ok { // 'a', 'b' or 'c'
		msg = "must be one of " + strings.TrimSuffix(strings.NewReplacer("', '", ", ", "' or '", ", ").Replace(words), "'")
	}
	msg = commandWords.Replace(msg)
	switch {
	case place == "":
		return msg
	case strings.HasPrefix(msg, "must "), strings.HasPrefix(msg, "is "):
		return place + " " + msg
	}
	return place + ": " + msg
}

// packages are names of ours that errors begin with, for the log.
var packages = []string{"app", "client", "config", "labs", "ops", "orders", "places", "secrets", "store", "teams"}

func withoutPackage(text string) string {
	if name, rest, ok := strings.Cut(text, ": "); ok && slices.Contains(packages, name) {
		return rest
	}
	return text
}

// badFlag returns the error for a flag that cannot be parsed. After an unknown command
// every flag is unknown, too. Then the error is about the command.
func badFlag(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 {
		return c.Args(c, words)
	}
	var bad *pflag.InvalidValueError
	var alone *pflag.ValueRequiredError
	switch {
	case errors.As(err, &alone):
		return sayingf(err, "--%s needs a value", alone.GetFlag().Name)
	case !errors.As(err, &bad):
		return err
	}
	must := map[string]string{
		"int": "a whole number", "int64": "a whole number", "bool": "true or false",
		"duration": "a time span, such as 90s, 25m or 24h",
	}
	f := bad.GetFlag()
	if want, ok := must[f.Value.Type()]; ok {
		return sayingf(err, "--%s must be %s", f.Name, want)
	}
	return err
}

// exampleID shows people the form of an id.
const exampleID = "01980000-0000-7000-8000-000000000000"

// idArg checks an argument or a flag that is the id of something.
func idArg[T any](name, what, text, hint string) (ids.ID[T], error) {
	id, err := ids.Parse[T](text)
	if err != nil {
		return id, withHint(badUsagef("%s must be the id of %s, such as %s", name, what, exampleID), "%s", hint)
	}
	return id, nil
}

// absentHint is the annotation with advice on where to look for a missing object.
const absentHint = "absent"

// annotation returns the annotation of a command, or of its nearest parent that has one.
// It returns "" if there is none.
func annotation(command *cobra.Command, name string) string {
	for c := command; c != nil; c = c.Parent() {
		if text, ok := c.Annotations[name]; ok {
			return text
		}
	}
	return ""
}

// fileTrouble returns an error that states why a file or folder given by the user cannot
// be read. It returns nil for nil.
func fileTrouble(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fault.Newf(fault.NotFound, "%s: no such file", path)
	case errors.Is(err, syscall.EISDIR):
		return withHint(badUsagef("%s is a folder", path), "name a file in it")
	}
	return sayingf(err, "%s: %s", path, reasonOf(err))
}

// reasonOf returns the system's own words for a failure, such as "permission denied".
func reasonOf(err error) string {
	var number syscall.Errno
	var name *net.DNSError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return "no such host"
	case errors.As(err, &name):
		return "the host name cannot be resolved"
	case errors.As(err, &number):
		return number.Error()
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return withoutPackage(err.Error())
}

// databaseTrouble explains why a database does not open. For PostgreSQL it leaves out the
// words of its driver.
func databaseTrouble(err error) error {
	var refusal interface {
		error
		SQLState() string
	}
	var op *net.OpError
	switch {
	case errors.As(err, &refusal):
		return sayingf(err, "PostgreSQL refused the connection: %s", refusal.Error())
	case errors.As(err, &op) && op.Addr != nil:
		return sayingf(err, "no answer from PostgreSQL at %s: %s", op.Addr, reasonOf(err))
	case errors.As(err, &op):
		return sayingf(err, "no answer from PostgreSQL: %s", reasonOf(err))
	}
	return err
}
