#!/usr/bin/env bash
# Runs every fuzzer of the module, one after the other, for the given time.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10m}
go list -f '{{.Dir}}|{{range .TestGoFiles}}{{.}} {{end}}{{range .XTestGoFiles}}{{.}} {{end}}' ./... | while IFS='|' read -r dir files; do
  for file in $files; do
    for fuzzer in $(grep -oE '^func Fuzz[A-Za-z0-9_]+' "$dir/$file" | cut -c6-); do
      echo "== ${dir#"$PWD"/} $fuzzer $time"
      (cd "$dir" && go test -run '^$' -fuzz "^$fuzzer\$" -fuzztime "$time" -parallel "${PARALLEL:-2}" .)
    done
  done
done
