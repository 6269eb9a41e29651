package hop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigurationNamesItsFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nginx.conf")
	if err := writeConfig(path, map[string]any{"Dir": "/d", "Socket": "/d/s", "Listen": "127.0.0.1:1", "Root": true}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"user root;", "server unix:/d/s;", "listen 127.0.0.1:1 ", "pid /d/nginx.pid;"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
