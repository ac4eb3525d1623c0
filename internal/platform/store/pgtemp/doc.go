// Package pgtemp starts a throwaway PostgreSQL from the binaries on this
// machine: in a temporary folder, on a unix socket, for one process.
//
// The tests use it through storetest, the crash and bench programs directly,
// and `with-postgres CMD` runs any command with one cluster that it announces
// in HALE_TEST_POSTGRES. Nothing here belongs to the running service.
//
// PostgreSQL refuses to run as root, so root starts it as the user postgres or
// nobody. A small shell holds the server: when the pipe to the starting process
// closes, however that process ended, it stops the server and removes the folder.
//
// Databases made here belong to the role hale, which is no superuser and may
// not bypass row security, so the tests live under the rules of production.
package pgtemp
