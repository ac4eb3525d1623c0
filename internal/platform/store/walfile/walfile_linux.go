package walfile

import (
	"path/filepath"
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Name of the file system that Register adds to SQLite's: for `?vfs=` of the
// connection that writes.
const Name = "hale-wal"

// Register adds it, once for the process. Without it, which is false, the log is
// written as SQLite does it.
func Register() bool { return register() }

// The file system of SQLite, and what ours calls of it. All of it lives as long
// as the process.
var (
	open  func(tls *libc.TLS, vfs, path, file uintptr, flags int32, outFlags uintptr) int32
	files sync.Map // by the address of SQLite's file: *logFile
)

var register = sync.OnceValue(func() bool {
	tls := libc.NewTLS()
	defer tls.Close()
	if lib.Xsqlite3_initialize(tls) != lib.SQLITE_OK {
		return false
	}
	base := lib.Xsqlite3_vfs_find(tls, 0)
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(lib.Tsqlite3_vfs{})))
	name, err := libc.CString(Name)
	if base == 0 || own == 0 || err != nil {
		return false
	}
	vfs := at[lib.Tsqlite3_vfs](own)
	*vfs = *at[lib.Tsqlite3_vfs](base)
	vfs.FzName, vfs.FpNext = name, 0
	open = function[func(tls *libc.TLS, vfs, path, file uintptr, flags int32, outFlags uintptr) int32](vfs.FxOpen)
	vfs.FxOpen = address(openFile)
	return lib.Xsqlite3_vfs_register(tls, own, 0) == lib.SQLITE_OK
})

// at views memory of the library, of which Go's collector knows nothing.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// function is what a pointer of the library calls.
func function[F any](pointer uintptr) F {
	held := &struct{ uintptr }{pointer}
	return *(*F)(unsafe.Pointer(held))
}

// address is a pointer by which the library calls f, which must live as long
// as the process.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f})) }

// logFile is a log that is open. It is used by one goroutine at a time, that of
// its connection.
type logFile struct {
	path    string
	methods lib.Tsqlite3_io_methods // SQLite's own
	read    func(tls *libc.TLS, file, to uintptr, n int32, offset int64) int32
	write   func(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32
	pending gathered
}

// methods of all logs: those of SQLite's file system, with ours instead of what
// reads, writes, measures, syncs and closes. Made when the first log is opened.
var methods struct {
	sync.Mutex
	address uintptr
}

// openFile opens a file as SQLite does, and takes over the methods of a log.
func openFile(tls *libc.TLS, vfs, path, file uintptr, flags int32, outFlags uintptr) int32 {
	code := open(tls, vfs, path, file, flags, outFlags)
	if code != lib.SQLITE_OK || flags&lib.SQLITE_OPEN_WAL == 0 {
		return code
	}
	sqlite := at[lib.Tsqlite3_file](file)
	theirs := *at[lib.Tsqlite3_io_methods](sqlite.FpMethods)
	methods.Lock()
	defer methods.Unlock()
	if methods.address == 0 {
		if methods.address = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(theirs))); methods.address == 0 {
			return code // it is written in pieces
		}
		ours := theirs
		ours.FxRead, ours.FxWrite, ours.FxSync = address(readLog), address(writeLog), address(syncLog)
		ours.FxTruncate, ours.FxFileSize, ours.FxClose = address(truncateLog), address(sizeOfLog), address(closeLog)
		*at[lib.Tsqlite3_io_methods](methods.address) = ours
	}
	files.Store(file, &logFile{
		path:    libc.GoString(path),
		methods: theirs,
		read:    function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](theirs.FxRead),
		write:   function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](theirs.FxWrite),
	})
	sqlite.FpMethods = methods.address
	return code
}

func logOf(file uintptr) *logFile {
	l, _ := files.Load(file)
	return l.(*logFile)
}

// Drop forgets what was gathered of a transaction that was rolled back whole. Its
// place in the log is free, and the next to write there may be another process.
// Whoever writes the database calls it, between two transactions.
func Drop(database string) {
	path, err := filepath.Abs(database)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return
	}
	files.Range(func(_, l any) bool {
		if l := l.(*logFile); l.path == path+"-wal" { //nolint:forcetypeassert // only logs are stored
			l.pending.drop()
		}
		return true
	})
}

// flush writes what is pending. What cannot be written is gone: SQLite ends the
// transaction with the error, and the next one writes over its place.
func (l *logFile) flush(tls *libc.TLS, file uintptr) int32 {
	p := &l.pending
	if len(p.data) == 0 {
		return lib.SQLITE_OK
	}
	code := l.write(tls, file, uintptr(unsafe.Pointer(unsafe.SliceData(p.data))), int32(len(p.data)), p.at)
	p.drop()
	return code
}

func writeLog(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	l := logOf(file)
	if !l.pending.takes(offset, int(n)) {
		if code := l.flush(tls, file); code != lib.SQLITE_OK {
			return code
		}
	}
	if l.pending.add(unsafe.Slice(at[byte](from), n), offset) {
		return l.flush(tls, file)
	}
	return lib.SQLITE_OK
}

func readLog(tls *libc.TLS, file, to uintptr, n int32, offset int64) int32 {
	l := logOf(file)
	if l.pending.touches(offset, int(n)) && l.flush(tls, file) != lib.SQLITE_OK {
		// Whatever the reason is: of one that is no error of reading, such as a full
		// disk, SQLite would undo the one statement and keep the others.
		return lib.SQLITE_IOERR_WRITE
	}
	return l.read(tls, file, to, n, offset)
}

// syncLog syncs the data. The first sync of a log that was just made also syncs
// its folder: SQLite does that.
func syncLog(tls *libc.TLS, file uintptr, flags int32) int32 {
	l := logOf(file)
	if code := l.flush(tls, file); code != lib.SQLITE_OK {
		return code
	}
	unix := at[lib.TunixFile](file)
	if unix.FctrlFlags&lib.UNIXFILE_DIRSYNC != 0 {
		return function[func(*libc.TLS, uintptr, int32) int32](l.methods.FxSync)(tls, file, flags)
	}
	if libc.Xfdatasync(tls, unix.Fh) != 0 {
		return lib.SQLITE_IOERR_FSYNC
	}
	return lib.SQLITE_OK
}

func truncateLog(tls *libc.TLS, file uintptr, size int64) int32 {
	l := logOf(file)
	if code := l.flush(tls, file); code != lib.SQLITE_OK {
		return code
	}
	return function[func(*libc.TLS, uintptr, int64) int32](l.methods.FxTruncate)(tls, file, size)
}

func sizeOfLog(tls *libc.TLS, file, size uintptr) int32 {
	l := logOf(file)
	if code := l.flush(tls, file); code != lib.SQLITE_OK {
		return code
	}
	return function[func(*libc.TLS, uintptr, uintptr) int32](l.methods.FxFileSize)(tls, file, size)
}

// closeLog closes a log. What is pending then belongs to no transaction that was
// committed.
func closeLog(tls *libc.TLS, file uintptr) int32 {
	l := logOf(file)
	files.Delete(file)
	return function[func(*libc.TLS, uintptr) int32](l.methods.FxClose)(tls, file)
}
