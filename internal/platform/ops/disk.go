package ops

import (
	"context"
	"fmt"
	"sync/atomic"
)

// MinFree is the space below which a node stops being ready: room for the
// write-ahead log and for a checkpoint.
const MinFree = 64 << 20

// Disk is the disk that a folder is on. It keeps what was last seen of it, so
// that a scrape never waits for a disk that hangs.
type Disk struct {
	dir        string
	free, size atomic.Uint64 // bytes; size is 0 before the first look
}

// NewDisk is the disk of a folder. Nothing is looked at yet.
func NewDisk(dir string) *Disk { return &Disk{dir: dir} }

// Check fails when the disk is nearly full.
func (d *Disk) Check() Check {
	return Check{"disk", func(context.Context) error {
		free, size, err := DiskSpace(d.dir)
		if err != nil {
			return err
		}
		d.free.Store(free)
		d.size.Store(size)
		if free < MinFree {
			return fmt.Errorf("ops: %d bytes free in the data folder, %d are needed", free, MinFree)
		}
		return nil
	}}
}
