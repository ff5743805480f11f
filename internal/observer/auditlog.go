package observer

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// auditLog reads a log that grows. It is used under the observer's lock.
type auditLog struct {
	path  string
	users map[string]bool
	at    int64
	seq   int
	// marker is a text that Settle waits for; passed is where it was found.
	marker string
	passed int
}

const logChunk = 1 << 20

// read hands every line that was completed since the last call to keep.
func (l *auditLog) read(keep func(*Request)) error {
	f, err := os.Open(l.path)
	if err != nil {
		return fmt.Errorf("cannot open the audit log: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() < l.at {
		return fmt.Errorf("cannot follow the audit log %q: it was rotated", l.path)
	}
	if _, err := f.Seek(l.at, io.SeekStart); err != nil {
		return fmt.Errorf("cannot read the audit log: %w", err)
	}
	var rest []byte
	chunk := make([]byte, logChunk)
	for {
		n, err := f.Read(chunk)
		rest = append(rest, chunk[:n]...)
		whole := bytes.LastIndexByte(rest, '\n') + 1
		if err := l.lines(rest[:whole], keep); err != nil {
			return err
		}
		l.at += int64(whole)
		rest = append(rest[:0], rest[whole:]...)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read the audit log: %w", err)
		}
	}
}

func (l *auditLog) lines(text []byte, keep func(*Request)) error {
	for line := range bytes.Lines(text) {
		l.seq++
		r, err := parse(line, l.users)
		if err != nil {
			return fmt.Errorf("line %d of %q: %w", l.seq, l.path, err)
		}
		if r == nil {
			continue
		}
		r.Seq = l.seq
		if l.marker != "" && strings.Contains(r.URI, l.marker) {
			l.passed = l.seq
		}
		if r.own || r.creates() || r.removes() {
			keep(r)
		}
	}
	return nil
}
