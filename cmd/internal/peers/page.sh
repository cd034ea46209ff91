#!/usr/bin/env bash
# Runs benchmarks, writes benchstat's medians into a part of BENCHMARKS.md, and fails if a
# bar is missed:
#
#	page.sh ids '^BenchmarkID$'
#
# BENCHTIME and COUNT are go test's. UIDRING_BENCH_OUTPUT keeps the output.
set -euo pipefail
part=$1 pattern=$2
cd "$(dirname "$0")"
page=../../../BENCHMARKS.md
output=${UIDRING_BENCH_OUTPUT:-$(mktemp)}
go test -run '^$' -bench "$pattern" -benchtime "${BENCHTIME:-200ms}" -count "${COUNT:-7}" -timeout 60m . | tee "$output"
for name in $(tr -cs A-Za-z ' ' <<<"${pattern/Benchmark/}"); do
	grep -q "^Benchmark$name/" "$output" || { echo "Benchmark$name did not run: is a program missing?" >&2; exit 1; }
done
{
	echo
	sed -n 's/^cpu: *\(.*\)/\1, /p' "$output" | head -1 | tr -d '\n'
	echo "$(nproc) cores, $(go version | cut -d' ' -f3,4), $(date -u +%F), ${COUNT:-7} samples, \`make ${3:-bench}\`:"
	echo
	go tool benchstat -format csv -row .fullname "$output" 2>/dev/null | awk -F, '
		/^,[^,]*,CI$/ { unit = $2; next }
		NF == 3 && $1 ~ /\// && $2 != "" {
			row = $1; sub(/-[0-9]+$/, "", row)
			head = unit; value = $2
			if (unit == "sec/id") { head = "ns/id"; value *= 1e9 }
			if (unit == "allocs/call") next
			if (match(row, /\/goroutines=[0-9]+/)) {
				count = substr(row, RSTART + 12, RLENGTH - 12)
				head = head ", " count (count == 1 ? " goroutine" : " goroutines")
				row = substr(row, 1, RSTART - 1)
			}
			sub(/^ID\/impl=/, "", row); sub(/\/base=/, " beside ", row)
			if (!(row in rows)) { rows[row]; names[++n] = row }
			if (!(head in heads)) { heads[head]; columns[++c] = head }
			cell[row, head] = sprintf(value < 1000 ? "%.3g" : "%.0f", value) ($3 ~ /%/ ? " ± " $3 : "")
		}
		END {
			line = "| |"; rule = "|---|"
			for (i = 1; i <= c; i++) { line = line " " columns[i] " |"; rule = rule "---|" }
			print line; print rule
			for (k = 1; k <= n; k++) {
				line = "| " names[k] " |"
				for (i = 1; i <= c; i++) line = line " " cell[names[k], columns[i]] " |"
				print line
			}
		}'
	echo
} >"$output.table"
awk -v part="$part" -v table="$output.table" '
	$0 == "<!-- end " part " -->" { inside = 0 }
	!inside { print }
	$0 == "<!-- begin " part " -->" { inside = 1; while ((getline line < table) > 0) print line }
' "$page" >"$output.page"
cp "$output.page" "$page"
UIDRING_BENCH_OUTPUT=$(realpath "$output") go test -run '^TestBars$' -count=1 -v .
