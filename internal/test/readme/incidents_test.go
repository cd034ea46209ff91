package readme

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// ofCalls are the exported errors of the packages below that stop no start: a call returns them, or a hook gets them.
var ofCalls = strings.Fields("uid.ErrClosed uid.ErrNotReady uid.ErrStale uid.ErrWorkerLost uid.ErrTickFull uid.ErrBackfillTime uid.ErrSyntax " +
	"segment.ErrTagExists segment.ErrTooManyTags lease.ErrNoLease lease.ErrNotDone uidclient.ErrAnswer bits.ErrForeign bits.ErrRange padding.ErrStale " +
	"opaque.ErrSyntax opaque.ErrToken uidgorm.ErrConflict uidgorm.ErrGenerator uidgorm.ErrKey")

// TestIncidents: docs/incidents.md has an entry for each alert, which links there, for each exported error of a start, for
// each warning in the log and for each exit code.
func TestIncidents(t *testing.T) {
	page := read(t, "docs/incidents.md")
	section := func(name string) string {
		_, text, found := strings.Cut(page, "\n## "+name+"\n")
		if !found {
			t.Fatalf("the page has no section %s", name)
		}
		text, _, _ = strings.Cut(text, "\n## ")
		return text
	}
	for _, rules := range []string{"uid/uidprom/alerts.yml", "cmd/uidringd/deploy/alerts.yml"} {
		alerts := strings.Split(read(t, rules), "      - alert: ")[1:]
		for _, text := range alerts {
			name, text, _ := strings.Cut(text, "\n")
			if !strings.Contains(section("Alerts"), "\n### "+name+"\n\n") {
				t.Errorf("the page has no heading for the alert %s", name)
			}
			if link := "runbook_url: https://github.com/uidring/uidring/blob/main/docs/incidents.md#" + strings.ToLower(name) + "\n"; !strings.Contains(text, link) {
				t.Errorf("%s: %s lacks %s", rules, name, link)
			}
		}
		if len(alerts) < 5 {
			t.Errorf("%s has %d alerts", rules, len(alerts))
		}
	}

	exported, warnings := 0, 0
	entries := regexp.MustCompile("`[^`]+`").FindAllString(section("Alerts")+section("Warnings"), -1)
	inFiles(t, func(path string, file *ast.File, constants map[string]string) {
		if regexp.MustCompile(`^(bits|padding|uid|uid/[a-z/]+|worker|worker/[a-z]+)/[^/]+$`).MatchString(path) {
			for name := range values(file, token.VAR) {
				full := file.Name.Name + "." + name
				if !strings.HasPrefix(name, "Err") || slices.Contains(ofCalls, full) {
					continue
				}
				exported++
				if text := section("Errors"); !strings.Contains(text, "`"+full+"`") && !strings.Contains(text, "`"+name+"`") {
					t.Errorf("%s: the page has no entry for %s", path, full)
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if message, is := warning(n, constants); is {
				warnings++
				if !slices.ContainsFunc(entries, func(entry string) bool { // one word is an entry for a message of one word
					entry = strings.Join(strings.Fields(strings.Trim(entry, "`")), " ")
					return entry == message || strings.Contains(entry, " ") && strings.Contains(message, entry)
				}) {
					t.Errorf("%s: the page has no entry for the warning %q", path, message)
				}
			}
			return true
		})
	})
	if exported < 20 || warnings < 35 {
		t.Errorf("found %d errors and %d warnings, which are too few", exported, warnings)
	}

	_, codes, _ := strings.Cut(read(t, "docs/reference/uidring.md"), "Exit codes:\n")
	codes, _, _ = strings.Cut(codes, "```")
	for _, code := range regexp.MustCompile(`(?m)^  (\d+)|\b(1\d\d) on SIG`).FindAllStringSubmatch(codes, -1) {
		if !regexp.MustCompile(`\b` + code[1] + code[2] + `\b`).MatchString(section("Exit codes")) {
			t.Errorf("the page has no entry for the exit code %s", code[1]+code[2])
		}
	}
}

// inFiles calls f for each file of the library and of the commands, but not for tests and their helpers. constants has
// the texts of all constants, by their names.
func inFiles(t *testing.T, f func(path string, file *ast.File, constants map[string]string)) {
	t.Helper()
	files, constants := map[string]*ast.File{}, map[string]string{}
	each(t, func(path string) {
		path = strings.TrimPrefix(path, filepath.ToSlash(top)+"/")
		if !strings.HasSuffix(path, ".go") || regexp.MustCompile(`_test\.go$|/(leasetest|segmenttest|uidtest|testdata)/|^internal/(test|lab|examples|integration)/`).MatchString(path) {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, path), nil, 0)
		need.Must(t, err)
		files[path] = file
		for name, value := range values(file, token.CONST) {
			constants[name] = text(value, nil)
		}
	})
	for path, file := range files {
		f(path, file, constants)
	}
}

// values returns the variables or constants of a file that have a value each, by their names.
func values(file *ast.File, kind token.Token) map[string]ast.Expr {
	all := map[string]ast.Expr{}
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != kind {
			continue
		}
		for _, spec := range group.Specs {
			if spec := spec.(*ast.ValueSpec); len(spec.Names) == len(spec.Values) {
				for i, name := range spec.Names {
					all[name.Name] = spec.Values[i]
				}
			}
		}
	}
	return all
}

// warning reports whether a call logs a warning or an error, and returns its message, as far as text tells it.
func warning(n ast.Node, constants map[string]string) (message string, is bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	at := slices.IndexFunc(call.Args, func(arg ast.Expr) bool {
		return text(arg, map[string]string{"LevelWarn": "high", "LevelError": "high"}) == "high"
	}) + 1
	if method, ok := call.Fun.(*ast.SelectorExpr); ok && at == 0 {
		receiver := ""
		ast.Inspect(method.X, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				receiver += strings.ToLower(name.Name)
			}
			return true
		})
		at = slices.Index([]string{"Warn", "Error", "WarnContext", "ErrorContext"}, method.Sel.Name)
		if !strings.Contains(receiver, "log") || at < 0 {
			return "", false
		}
		at /= 2 // behind the context
	} else if !ok && at == 0 {
		return "", false
	}
	if len(call.Args) <= at {
		return "", false
	}
	return text(call.Args[at], constants), true
}

// text returns the text of an expression, as far as literals and constants tell it.
func text(e ast.Expr, constants map[string]string) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value) // fails for numbers
		return s
	case *ast.BinaryExpr:
		return text(e.X, constants) + text(e.Y, constants)
	case *ast.SelectorExpr:
		return constants[e.Sel.Name]
	case *ast.Ident:
		return constants[e.Name]
	}
	return ""
}
