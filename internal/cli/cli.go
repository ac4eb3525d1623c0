package cli

import (
	"context"
	"errors"
	"io"
	"log" //nolint:depguard // discards what net/http writes there: it may contain personal data
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// shell holds the environment of a command: streams, variables, clock.
type shell struct {
	in        io.Reader
	out       io.Writer // results
	err       io.Writer // messages and progress
	lookupEnv func(string) (string, bool)
	isRoot    bool // the process runs as root
	environ   []string
	now       func() time.Time
	terminal  bool   // stderr is a terminal: show progress bars
	colour    bool   // stdout is a terminal: use colours
	afterStep func() // after each step of a restore that changes the data; tests stop there

	format  string // -o
	server  serverFlags
	entered bool // a command's own code has begun; before that, errors are usage
}

// Main runs the command line of this process and returns its exit code.
func Main() int {
	// net/http logs bytes that a webhook's receiver sends unasked. They may hold
	// personal data.
	log.SetOutput(io.Discard)
	// A second signal ends the process at once: the first one restores the
	// default as soon as it has been seen.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	s := &shell{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		lookupEnv: os.LookupEnv, isRoot: os.Geteuid() == 0, environ: os.Environ(), now: time.Now,
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
		colour:   term.IsTerminal(int(os.Stdout.Fd())),
	}
	return s.run(ctx, os.Args[1:])
}

// run executes one command line.
func (s *shell) run(ctx context.Context, args []string) int {
	root := s.root()
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if !s.entered {
		err = badUsage(err)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	s.complain(command, err)
	return exitCode(err)
}

// firstSteps is the path of a new user, as the first screen and the README show it.
const firstSteps = "  hale demo anna                                  # two years of data\n" +
	"  hale orders create --user anna --test annual-check\n" +
	"  hale sandbox advance 10d                        # let the laboratory work\n" +
	"  hale results show --user anna\n" +
	"  hale listen                                     # print events as they happen"

// productionSteps is the path of a production installation: the steps of the guide
// production. Production has no invented data and no sandbox laboratory.
const productionSteps = "  hale keys create --label server                 # one key for each program\n" +
	"  hale catalog import compendium.json --dry-run   # the tests of your laboratory\n" +
	"  hale catalog accounts add --help                # your contract with it\n" +
	"  hale doctor                                     # what is missing\n" +
	"  hale docs production                            # every step in full"

func (s *shell) root() *cobra.Command {
	cobra.EnableCommandSorting = false // help lists commands in the order of use
	root := noun(&cobra.Command{
		Use:   "hale",
		Short: "an open, self-hosted health-data and lab-ordering service",
		Long: `hale is an open, self-hosted health-data and lab-ordering service in one binary.

hale serve runs the service. Other commands work on a data folder or call a running
server. Commands that call a server read HALE_URL and HALE_API_KEY.`,
		Example:       "  hale serve\n" + firstSteps,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := checkFormat(s.format); err != nil {
				return err
			}
			s.entered = true
			return nil
		},
	})
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(badFlag)
	root.PersistentFlags().StringVarP(&s.format, "output", "o", formatTable, "format of results: table, json, jsonl or id")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	addGroup(root, "run", "Run it:", s.serveCommand(), s.doctorCommand(), s.configCommand(), s.migrateCommand(), s.clockCommand(), s.rootKeyCommand(), s.auditCommand(), s.backupCommand(), s.restoreCommand(), s.resumeOutgoingCommand())
	addGroup(root, "people", "Teams and people:", s.teamsCommand(), s.keysCommand(), s.usersCommand(), s.demoCommand(), s.importCommand(), s.importsCommand(), s.dataCommand(), s.exportCommand(), s.queryCommand(), s.renormaliseCommand())
	addGroup(root, "labs", "Lab ordering:", s.ordersCommand(), s.resultsCommand(), s.reportsCommand(), s.catalogCommand(), s.pscCommand(), s.outboxCommand(), s.sandboxCommand())
	addGroup(root, "events", "Events and webhooks:", s.listenCommand(), s.triggerCommand(), s.webhooksCommand(), s.eventsCommand())
	addGroup(root, "look", "Other:", s.docsCommand(), s.jobsCommand(), s.apiCommand(), s.versionCommand())
	root.AddCommand(s.readReportsCommand())
	root.SetHelpCommandGroupID("look")
	root.SetCompletionCommandGroupID("look")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		c.Short = plainWords(c.Short) // the library's own two have another style
		switch c.Name() {
		case "help":
			c.Args = knownCommand
		case "completion":
			noun(c)
		}
	}
	return root
}

func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
		root.AddCommand(c)
	}
}
