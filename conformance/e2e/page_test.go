//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp" // drives a real browser over its own protocol, without Node or a driver program
	"github.com/chromedp/chromedp/kb"
)

// The page is used as a person would, in a real browser, before the real Task.
func TestPage(t *testing.T) {
	chromium(t)
	url := start(t, defaultModel(t), nil).URL
	t.Run("ranks in every format", func(t *testing.T) { rankInEveryFormat(t, url) })
	t.Run("tells errors", func(t *testing.T) { tellErrors(t, url) })
	t.Run("works by keyboard", func(t *testing.T) { worksByKeyboard(t, url) })
	t.Run("reads aloud", func(t *testing.T) { readsAloud(t, url) })
	t.Run("looks right", func(t *testing.T) { looksRight(t, url) })
}

// browser is a headless Chromium that has the page open.
type browser struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string
	trouble  []string // what the console complained of
}

func openPage(t *testing.T, url string) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.Flag("disable-dev-shm-usage", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses its sandbox to root
	}
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // starts the browser, which must not end with a time-out
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b := &browser{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	b.run(chromedp.Navigate(url), until(`document.getElementById("model").textContent === "minilm-l6-rerank"`))
	return b
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium on this machine: native/setup.sh test installs it")
	return ""
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.trouble = append(b.trouble, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.trouble = append(b.trouble, fmt.Sprintf("console.%s", e.Type))
	}
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// get runs an action that has a value.
func get[T any](b *browser, action chromedp.Action[T]) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.Fatal(err)
	}
	return value
}

// js evaluates an expression into a value.
func js[T any](b *browser, expression string) T {
	b.Helper()
	return get(b, chromedp.Evaluate[T](expression))
}

// call sends a command of the browser's protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], parameters P) R {
	b.Helper()
	return get(b, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, parameters) })
}

// until waits for an expression to hold.
func until(expression string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](expression)
}

// rank submits the form and waits for the answer.
func (b *browser) rank() {
	b.Helper()
	b.run(chromedp.Click(chromedp.ID("rank")), until(`document.getElementById("status").textContent.includes("ranked")`))
}

func (b *browser) screenshot(name string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.ArtifactDir(), name+".png"), get(b, chromedp.FullScreenshot(100)), 0o644); err != nil {
		b.Fatal(err)
	}
}

func rankInEveryFormat(t *testing.T, url string) {
	b := openPage(t, url)
	formats := js[int](b, `document.querySelectorAll("#format option").length`)
	for i := range formats {
		js[chromedp.Void](b, fmt.Sprintf(`document.getElementById("status").textContent = ""; document.getElementById("format").value = %d`, i))
		b.rank()
		results := js[[]string](b, `[...document.querySelectorAll("#results .text")].map((e) => e.textContent)`)
		if len(results) != 4 || !strings.HasPrefix(results[0], "Tomatoes split") || !strings.HasPrefix(results[1], "Tomato plants") {
			t.Errorf("format %d: %q", i, results)
		}
		if widths := js[[]float64](b, `[...document.querySelectorAll(".bar")].map((e) => e.getBoundingClientRect().width)`); !slices.IsSortedFunc(widths, func(a, b float64) int {
			return int(b - a)
		}) {
			t.Errorf("format %d: bars %v", i, widths)
		}
		if figures := js[string](b, `document.getElementById("figures").innerText`); strings.Count(figures, " ms") != 4 {
			t.Errorf("format %d: %q", i, figures)
		}
		curlRanksAlike(b, results[0])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.trouble) > 0 {
		t.Errorf("the console has %q", b.trouble)
	}
	for _, loaded := range b.requests {
		if !strings.HasPrefix(loaded, url+"/") && !strings.HasPrefix(loaded, "data:") {
			t.Errorf("the page loaded %s", loaded)
		}
	}
}

// curlRanksAlike runs the curl line of the page; it must give the answer that the page shows.
func curlRanksAlike(b *browser, best string) {
	b.Helper()
	line := js[string](b, `document.getElementById("curl").textContent`)
	output, err := exec.CommandContext(b.Context(), "sh", "-c", line).Output()
	if err != nil {
		b.Fatalf("%s: %v", line, err)
	}
	raw := js[string](b, `document.getElementById("raw").textContent`)
	if got, want := entries(output), entries([]byte(raw)); want == "" || got != want {
		b.Errorf("%s gave %s, the page %s", line, output, raw)
	}
}

// entries is the part of an answer that is the same for the same request.
func entries(answer []byte) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(answer, &object) != nil {
		return string(answer)
	}
	return string(object["rankings"]) + string(object["results"])
}

func tellErrors(t *testing.T, url string) {
	b := openPage(t, url)
	b.run(
		chromedp.SetValue(chromedp.ID("query"), "   "), chromedp.Click(chromedp.ID("rank")),
		until(`document.getElementById("error").textContent.startsWith("400: the query is empty")`),
	)
	if js[bool](b, `getComputedStyle(document.getElementById("outcome")).display !== "none"`) {
		t.Error("an old ranking stands beside the error")
	}
}

// The whole form works from the keyboard, in the order in which it is read.
func worksByKeyboard(t *testing.T, url string) {
	b := openPage(t, url)
	var order []string
	for range 7 {
		b.run(chromedp.KeyEvent(kb.Tab))
		order = append(order, js[string](b, `document.activeElement.id || document.activeElement.tagName`))
	}
	if want := []string{"A", "query", "passages", "format", "truncate", "SUMMARY", "rank"}; !slices.Equal(order, want) {
		t.Fatalf("focus goes %q, want %q", order, want)
	}
	if outline := js[string](b, `getComputedStyle(document.activeElement).outlineStyle`); outline == "none" {
		t.Error("the focus cannot be seen")
	}
	b.run(chromedp.KeyEvent(kb.Enter), until(`document.getElementById("status").textContent === "4 passages ranked, best first."`))
	if focus := js[string](b, `document.activeElement.id`); focus != "rank" {
		t.Errorf("the focus went to %q", focus)
	}
}

// What a screen reader is told: every control has a name, the outcome is announced.
func readsAloud(t *testing.T, url string) {
	b := openPage(t, url)
	b.rank()
	seen := make(map[string]int)
	for _, node := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		role, name := axText(node.Role), axText(node.Name)
		seen[role]++
		if slices.Contains([]string{"textbox", "combobox", "checkbox", "button", "link", "form", "region"}, role) && name == "" {
			t.Errorf("a %s has no name", role)
		}
	}
	for role, least := range map[string]int{"textbox": 2, "combobox": 1, "checkbox": 1, "button": 2, "status": 1, "alert": 1, "main": 1, "listitem": 4, "heading": 4} {
		if seen[role] < least {
			t.Errorf("%d of role %s, want %d", seen[role], role, least)
		}
	}
}

func axText(v *accessibility.Value) string {
	var text string
	if v != nil {
		_ = json.Unmarshal(v.Value, &text)
	}
	return text
}

// lowContrast lists texts whose contrast with what lies behind them is below WCAG's 4.5.
const lowContrast = `(() => {
  const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const rgb = (css) => css.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] !== 0) return c; } return [255, 255, 255]; };
  return [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .filter((e) => { const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05) < 4.5; })
    .map((e) => e.outerHTML.slice(0, 80));
})()`

func looksRight(t *testing.T, url string) {
	b := openPage(t, url)
	b.rank()
	for _, scheme := range []string{"light", "dark"} {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		for _, width := range []int64{360, 1440} {
			b.run(chromedp.EmulateViewport(width, 900))
			if got := js[int64](b, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("%s, %d px: the page is %d px wide", scheme, width, got)
			}
			if clipped := js[[]string](b, `[...document.querySelectorAll("input, select, button, .text, dd")].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && e.tagName !== "INPUT").map((e) => e.outerHTML.slice(0, 80))`); len(clipped) > 0 {
				t.Errorf("%s, %d px: cut off: %q", scheme, width, clipped)
			}
			if low := js[[]string](b, lowContrast); len(low) > 0 {
				t.Errorf("%s, %d px: too little contrast: %q", scheme, width, low)
			}
			b.screenshot(fmt.Sprintf("page-%s-%d", scheme, width))
		}
	}
}
