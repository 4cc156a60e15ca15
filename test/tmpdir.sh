#!/usr/bin/env bash
# Prints the folder for what tests and the linker write: in memory where there is
# enough of it and programs may run there, so that tests that sync to a disk do not
# wait for whoever else writes to it.
set -euo pipefail

folder=/dev/shm
need=$((12 << 20)) # KiB that must be free
free=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo 2>/dev/null || true)
if [ "${free:-0}" -gt "$need" ] && [ -w "$folder" ] && [ "$(df --output=avail "$folder" | tail -1)" -gt $((8 << 20)) ] &&
  ! grep -qE "^[^ ]+ $folder [^ ]+ [^ ]*noexec" /proc/mounts; then
  mkdir -p "$folder/haltd-test"
  echo "$folder/haltd-test"
else
  echo "${TMPDIR:-/tmp}"
fi
