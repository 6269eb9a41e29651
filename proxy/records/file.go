package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"

	"golang.org/x/sys/unix"
)

// file is a file of whole lines that this process alone writes.
type file struct {
	*os.File
	path string
	size int64
}

// openFile opens or makes the file at path, and takes off what a killed proxy may have left of its last line.
func openFile(path string) (*file, error) {
	// A limit on the size of files is then an error of write, and not the end of the process.
	signal.Ignore(unix.SIGXFSZ)
	opened, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return nil, err
	}
	f := &file{File: opened, path: path}
	if err := f.prepare(); err != nil {
		opened.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func (f *file) prepare() error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("in use by another process: %w", err)
	}
	f.size = info.Size()
	return f.cutTail()
}

// cutTail ends the file behind its last whole line. What is cut must begin as a record does; anything else was not ours to cut.
func (f *file) cutTail() error {
	tail, err := f.tail()
	if err != nil || len(tail) == 0 {
		return err
	}
	n := min(len(tail), len(linePrefix))
	if string(tail[:n]) != linePrefix[:n] {
		return errors.New("does not end with a record")
	}
	f.size -= int64(len(tail))
	return f.Truncate(f.size)
}

// tail is what follows the last end of a line.
func (f *file) tail() ([]byte, error) {
	var tail []byte
	for end := f.size; end > 0; {
		block := make([]byte, min(end, 64<<10))
		end -= int64(len(block))
		if _, err := f.ReadAt(block, end); err != nil && err != io.EOF {
			return nil, err
		}
		if i := bytes.LastIndexByte(block, '\n'); i >= 0 {
			return append(block[i+1:], tail...), nil
		}
		tail = append(block, tail...)
	}
	return tail, nil
}

// write appends whole lines and returns how many are in the file. After an error no part of a line stays behind.
func (f *file) write(lines []byte) (written int, err error) {
	n, err := f.Write(lines)
	whole := bytes.LastIndexByte(lines[:n], '\n') + 1
	if err != nil {
		err = errors.Join(err, f.shorten(n-whole))
	}
	f.size += int64(whole)
	return bytes.Count(lines[:whole], []byte("\n")), err
}

// shorten takes the last n bytes off. It asks for the size, as somebody may have emptied the file meanwhile.
func (f *file) shorten(n int) error {
	info, err := f.Stat()
	if err != nil || n == 0 {
		return err
	}
	return f.Truncate(info.Size() - int64(n))
}

// moved tells whether the path names another file by now, or none.
func (f *file) moved() bool {
	there, err := os.Stat(f.path)
	if err != nil {
		return true
	}
	here, err := f.Stat()
	return err != nil || !os.SameFile(here, there)
}

// rotate moves the file to path.1, that to path.2 and so on up to keep, and begins a new one.
func (f *file) rotate(keep int) error {
	for i := keep; i > 0; i-- {
		err := os.Rename(f.numbered(i-1), f.numbered(i))
		if err != nil && (i == 1 || !errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	next, err := openFile(f.path)
	if err != nil {
		return err
	}
	f.close()
	*f = *next
	return nil
}

func (f *file) numbered(i int) string {
	if i == 0 {
		return f.path
	}
	return f.path + "." + strconv.Itoa(i)
}

func (f *file) close() error {
	return errors.Join(f.Sync(), f.Close())
}
