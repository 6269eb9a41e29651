package backend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc/ipctest"
)

func TestIsPattern(t *testing.T) {
	f := func(address string, want bool) {
		t.Helper()
		if got := IsPattern(address); got != want {
			t.Fatalf("%q: got %v", address, got)
		}
	}
	f("/run/ranking/task.sock", false)
	f("@task*", false)
	f("/run/ranking/*.sock", true)
	f("/run/ranking/task-?.sock", true)
	f("/run/ranking/task-[0-9].sock", true)
}

func TestSocketsThatMatchComeAndGo(t *testing.T) {
	folder, err := os.MkdirTemp("", "tasks") // short, as socket paths must be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	p := startPool(t, nil, filepath.Join(folder, "*.sock"))
	if ready, why := p.Ready(); ready || why != noSocket.Error() {
		t.Fatalf("ready %v, %q", ready, why)
	}
	if _, err := rank(p, "r"); err != noSocket {
		t.Fatalf("got %v", err)
	}

	first := ipctest.Start(t, ipctest.Options{Address: filepath.Join(folder, "a.sock")})
	eventually(t, "the first", p.isReady)
	mustRank(t, p, "to-first")
	second := ipctest.Start(t, ipctest.Options{Address: filepath.Join(folder, "b.sock")})
	eventually(t, "the second", func() bool { return len(p.all()) == 2 && second.Connections.Load() == 1 })

	first.Stop()
	os.Remove(first.Address)
	eventually(t, "the first has left", func() bool { return len(p.all()) == 1 })
	mustRank(t, p, "to-second")
	if second.Ranks.Load() != 1 {
		t.Fatalf("the second got %d ranks", second.Ranks.Load())
	}
	var page strings.Builder
	p.options.Metrics.Write(&page)
	if strings.Contains(page.String(), "a.sock") {
		t.Fatalf("the metrics still name the first:\n%s", page.String())
	}
}

// A Task that drains removes its socket first; what it has accepted must still be answered.
func TestASocketThatIsGoneKeepsItsRanks(t *testing.T) {
	folder, err := os.MkdirTemp("", "tasks")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	release := make(chan struct{})
	task := ipctest.Start(t, ipctest.Options{Address: filepath.Join(folder, "a.sock"), Rank: ipctest.When(release, ipctest.Answer)})
	p := startPool(t, nil, filepath.Join(folder, "*.sock"))
	answered := make(chan error, 1)
	go func() { _, err := rank(p, "r"); answered <- err }()
	eventually(t, "the rank", func() bool { return task.Ranks.Load() == 1 })
	os.Remove(task.Address)
	task.Goaway()
	eventually(t, "the end of readiness", func() bool { return !p.isReady() })
	time.Sleep(2 * rescanInterval) // two rescans see that the socket is gone
	close(release)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Task has left", func() bool { return len(p.all()) == 0 })
}
