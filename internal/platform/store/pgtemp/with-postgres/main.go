// Command with-postgres runs a command with a temporary PostgreSQL, whose address is
// in HALE_TEST_POSTGRES:
//
//	with-postgres go test ./...
//
// It exits with the code of the command. Without server binaries it prints a message
// and runs the command without PostgreSQL; tests that need it then skip.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"hale/internal/platform/store/pgtemp"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: with-postgres COMMAND [ARGUMENT ...]")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1:]))
}

func run(command []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	environment := os.Environ()
	if os.Getenv("HALE_TEST_POSTGRES") == "" {
		cluster, err := pgtemp.Start(ctx, pgtemp.Fast)
		switch {
		case errors.Is(err, pgtemp.ErrMissing):
			fmt.Fprintln(os.Stderr, "with-postgres:", err)
		case err != nil:
			fmt.Fprintln(os.Stderr, "with-postgres:", err)
			return 1
		default:
			defer func() { _ = cluster.Stop() }() // a failed stop of a temporary server has no consequence
			environment = append(environment, "HALE_TEST_POSTGRES="+cluster.URL())
		}
	}
	return exitCode(ctx, command, environment)
}

// exitCode runs the command and returns its exit code. The terminal sends an interrupt
// to the command too, which gets time to end by itself.
func exitCode(ctx context.Context, command, environment []string) int {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, environment
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	default:
		fmt.Fprintln(os.Stderr, "with-postgres:", err)
		return 1
	}
}
