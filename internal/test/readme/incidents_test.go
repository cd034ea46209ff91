package readme

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
	files, constants := sources(t)
	for path, source := range files {
		if regexp.MustCompile(`^(bits|padding|uid|uid/[a-z/]+|worker|worker/[a-z]+)/[^/]+$`).MatchString(path) {
			name := regexp.MustCompile(`(?m)^package (\w+)`).FindStringSubmatch(source)[1]
			for _, found := range variable.FindAllStringSubmatch(source, -1) {
				full := name + "." + found[1]
				if slices.Contains(ofCalls, full) {
					continue
				}
				exported++
				if text := section("Errors"); !strings.Contains(text, "`"+full+"`") && !strings.Contains(text, "`"+found[1]+"`") {
					t.Errorf("%s: the page has no entry for %s", path, full)
				}
			}
		}
		for _, found := range warning.FindAllStringSubmatch(source, -1) {
			warnings++
			message := text(found[1], constants)
			if !slices.ContainsFunc(entries, func(entry string) bool { // one word is an entry for a message of one word
				entry = strings.Join(strings.Fields(strings.Trim(entry, "`")), " ")
				return entry == message || strings.Contains(entry, " ") && strings.Contains(message, entry)
			}) {
				t.Errorf("%s: the page has no entry for the warning %q", path, message)
			}
		}
	}
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

// What the sources declare and log. A message is literals and names of constants.
const message = `((?:[\w.]+\s*\+\s*)?"[^"\n]*"(?:\s*\+\s*(?:"[^"\n]*"|[\w.]+))*)`

var (
	warning  = regexp.MustCompile(`(?:(?:[lL]og(?:ger)?(?:\(\))?|\))\.(?:Warn|Error)(?:Context)?\((?:ctx, )?|slog\.Level(?:Warn|Error), )` + message)
	constant = regexp.MustCompile(`(?m)^(?:const |\t)(\w+)\s*= ` + message)
	variable = regexp.MustCompile(`(?m)^(?:var |\t)(Err\w+)\s*= `)
)

// sources returns the files of the library and of the commands by their paths, without tests and their helpers, and the texts of
// all constants by their names.
func sources(t *testing.T) (files, constants map[string]string) {
	t.Helper()
	files, constants = map[string]string{}, map[string]string{}
	each(t, func(path string) {
		path = strings.TrimPrefix(path, filepath.ToSlash(top)+"/")
		if !strings.HasSuffix(path, ".go") || regexp.MustCompile(`_test\.go$|/(leasetest|segmenttest|uidtest|testdata)/|^internal/(test|lab|examples|integration)/`).MatchString(path) {
			return
		}
		files[path] = read(t, path)
		for _, found := range constant.FindAllStringSubmatch(files[path], -1) {
			constants[found[1]] = text(found[2], nil)
		}
	})
	return files, constants
}

// text returns a message. Constants are replaced by their values, and other names left out.
func text(message string, constants map[string]string) (text string) {
	for _, term := range regexp.MustCompile(`"([^"\n]*)"|(?:\w+\.)?(\w+)`).FindAllStringSubmatch(message, -1) {
		text += term[1] + constants[term[2]]
	}
	return text
}
