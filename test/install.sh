#!/usr/bin/env bash
# Installs what the tests use from Debian when it is missing and this user
# may; otherwise says what will be skipped. With CI=true a missing service is
# a failure: a skipped test proves nothing.
set -uo pipefail

# command:package, one for each service or program that a test starts
needed=(git:git cc:gcc nginx:nginx caddy:caddy systemd-analyze:systemd curl:curl zsh:zsh fish:fish chromium:chromium redis-server:redis-server postgres:postgresql psql:postgresql-client)

# file:package, one for each font that pages and their pictures are drawn with
fonts=(opentype/inter:fonts-inter truetype/jetbrains-mono:fonts-jetbrains-mono truetype/noto/NotoColorEmoji.ttf:fonts-noto-color-emoji)

# Debian keeps PostgreSQL's server in a folder of its version.
PATH=$PATH:/usr/sbin:/sbin:$(printf '%s:' /usr/lib/postgresql/*/bin)
missing=()
for pair in "${needed[@]}"; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
for pair in "${fonts[@]}"; do
  [ -e "/usr/share/fonts/${pair%%:*}" ] || missing+=("${pair##*:}")
done

# The checker of accessibility comes from npm, into a folder that git ignores.
browser="$(dirname "$0")/browser"
if [ "$browser/node_modules/.package-lock.json" -ot "$browser/package-lock.json" ]; then
  npm ci --prefix "$browser" --no-audit --no-fund --silent && touch "$browser/node_modules/.package-lock.json" ||
    { echo "not installed from npm: axe-core; the accessibility of the dashboard is not checked" >&2
      [ "${CI:-}" = true ] && exit 1; }
fi
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  sudo -n true 2>/dev/null && as_root=(sudo -n)
fi
if command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || [ ${#as_root[@]} -gt 0 ]; }; then
  echo "installing for the tests: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  # Only the programs are wanted: nothing may start a service by itself.
  "${as_root[@]}" apt-get update -qq >/dev/null
  if "${as_root[@]}" env RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
    exit 0
  fi
fi

echo "not installed and not installable here: ${missing[*]}; the tests that need them are skipped" >&2
if [ "${CI:-}" = true ]; then
  echo "CI=true: skipped tests count as failed. Install them, or run as root or with passwordless sudo." >&2
  exit 1
fi
