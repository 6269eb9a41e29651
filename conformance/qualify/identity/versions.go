package identity

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Lines runs a program and returns the lines of its standard output. Mentions of root are made relative, since they are nobody's business.
func Lines(ctx context.Context, root, program string, args ...string) ([]string, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("run %s %s: %w", program, strings.Join(args, " "), err)
	}
	text := strings.ReplaceAll(strings.TrimSpace(string(out)), strings.TrimSuffix(root, "/")+"/", "")
	return strings.Split(text, "\n"), nil
}
