// Package pgtemp starts a temporary PostgreSQL from the binaries on this machine: in a
// temporary folder, on a unix socket, for one process.
//
// Tests use it through storetest; the crash and bench programs use it directly.
// `with-postgres CMD` runs a command with one cluster, whose address is in
// HALE_TEST_POSTGRES. The service does not use this package.
//
// PostgreSQL refuses to run as root, so root starts it as an unprivileged user. A small
// shell script watches the pipe to the starting process. When the pipe closes, even
// after a crash, it stops the server and removes the folder.
//
// Databases belong to the role hale, which is not a superuser and cannot bypass
// row-level security, as in production.
package pgtemp
