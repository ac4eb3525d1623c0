// Package files exchanges files with a laboratory, through a folder of this
// machine or of an SFTP server.
//
// A file that goes out has its final name only when all its bytes are on disk.
// Files that come in are read in the order in which they were written, each
// once. A file is complete when two looks at the folder find the same size and
// time. A file that can never be read is moved to another folder, beside the
// reason.
//
// The package knows no message format and logs no file names: they may contain
// the names of patients.
//
//	settings.go   the settings
//	exchange.go   writing a file, taking the files of a folder
//	local.go      a folder of this machine
//	sftp.go       a folder of an SFTP server
package files
