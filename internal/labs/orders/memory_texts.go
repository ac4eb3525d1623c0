package orders

import (
	"bytes"
	"hash/maphash"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// texts keeps names as lines of one long text, so that looking for a word in
// all of them is one search through memory. Most people order more than once,
// and most kits go to the patient: equal names are one line.
type texts struct {
	blob   []byte
	starts []uint32 // of each line
	tails  []uint16 // of each line: how much of its end only repeats its beginning
	uses   []int32  // of each line; one without any is wiped
	table  []int32  // lines by their hash, in open addressing; 0 is free
}

// Lines are counted from 1; 0 stands for having no text.
var textSeed = maphash.MakeSeed()

// hold gives the line of a text, which is there until it is dropped as often as
// it was held.
func (t *texts) hold(text string, tail int) (line int32) {
	if text == "" {
		return 0
	}
	if len(t.starts)*4 >= len(t.table)*3 {
		t.rehash()
	}
	slot := t.slot([]byte(text), tail)
	if t.table[slot] == 0 {
		t.starts, t.tails, t.uses = append(t.starts, uint32(len(t.blob))), append(t.tails, uint16(tail)), append(t.uses, 0)
		t.blob = append(append(t.blob, text...), '\n')
		t.table[slot] = int32(len(t.starts))
	}
	line = t.table[slot]
	t.uses[line-1]++
	return line
}

// drop gives a line back. When nobody has it any more it is wiped.
func (t *texts) drop(line int32) {
	if line == 0 {
		return
	}
	if t.uses[line-1]--; t.uses[line-1] == 0 {
		clear(t.of(line))
	}
}

// of is the text of a line.
func (t *texts) of(line int32) []byte {
	if line == 0 {
		return nil
	}
	return t.blob[t.starts[line-1] : t.end(int(line))-1]
}

// slot is where a text is in the table, or the free place where it belongs.
// Lines that were wiped stay in the way until the table grows.
func (t *texts) slot(text []byte, tail int) int {
	mask := uint64(len(t.table) - 1)
	for i := maphash.Bytes(textSeed, text) & mask; ; i = (i + 1) & mask {
		line := t.table[i]
		if line == 0 || t.uses[line-1] > 0 && int(t.tails[line-1]) == tail && bytes.Equal(t.of(line), text) {
			return int(i)
		}
	}
}

func (t *texts) rehash() {
	t.table = make([]int32, max(64, 2*len(t.table)))
	for i, uses := range t.uses {
		if line := int32(i + 1); uses > 0 {
			t.table[t.slot(t.of(line), int(t.tails[i]))] = line
		}
	}
}

// atOnce is how many lines one processor looks through: a multiple of 64, so
// that no two write to the same word of a bitmap.
const atOnce = 1 << 13

// with finds the lines that have a part, and among them those that have it
// before their tail.
func (t *texts) with(part string) (lines, beforeTail bitmap) {
	lines, beforeTail = newBitmap(len(t.starts)+1), newBitmap(len(t.starts)+1)
	if part == "" {
		return lines, beforeTail
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from <= len(t.starts); from += atOnce {
		group.Go(func() error {
			t.scan([]byte(part), max(from, 1), min(from+atOnce, len(t.starts)+1), lines, beforeTail)
			return nil
		})
	}
	_ = group.Wait() // nothing in it fails
	return lines, beforeTail
}

// scan looks through the lines from one to before another.
func (t *texts) scan(part []byte, line, before int, lines, beforeTail bitmap) {
	end := t.end(before - 1)
	for line < before {
		hit := bytes.Index(t.blob[t.starts[line-1]:end], part)
		if hit < 0 {
			return
		}
		hit += int(t.starts[line-1])
		for t.end(line) <= hit { // matches come in the order of lines
			line++
		}
		if t.uses[line-1] > 0 {
			lines.set(int32(line))
			if hit+len(part) < t.end(line)-int(t.tails[line-1]) {
				beforeTail.set(int32(line))
			}
		}
		line++
	}
}

// end is where the text after a line begins.
func (t *texts) end(line int) int {
	if line < len(t.starts) {
		return int(t.starts[line])
	}
	return len(t.blob)
}

// has reports whether a line has a part, before its tail or at all.
func (t *texts) has(line int32, part []byte, beforeTail bool) bool {
	if line == 0 || len(part) == 0 {
		return false
	}
	text := t.of(line)
	if beforeTail {
		text = text[:len(text)-int(t.tails[line-1])]
	}
	return bytes.Contains(text, part)
}
