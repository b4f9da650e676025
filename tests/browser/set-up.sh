# What the tests in a browser and the screenshots need: sourced by `run` and `screenshots`, which stand beside it.
# It sets FRESHET (the binary), CHROMIUM and NODE_PATH. What is missing is installed if this is a Debian machine and we are root.
# shellcheck shell=bash

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(cd "$here/../.." && pwd)"

# Ends with a reason. On a machine for checks (CI=true) that is a failure; elsewhere the tests are left out, and that is said.
can_not() {
    echo "browser: $1" >&2
    if [ "${CI:-}" = true ]; then
        exit 1
    fi
    echo "browser: the dashboard is not tested in a browser"
    exit 0
}

# The first of these programs that there is.
first_of() {
    local name
    for name in "$@"; do
        if command -v "$name"; then
            return 0
        fi
    done
    return 1
}

find_programs() {
    CHROMIUM="${CHROMIUM:-$(first_of chromium chromium-browser google-chrome || true)}"
    command -v node >/dev/null && command -v npm >/dev/null && [ -n "$CHROMIUM" ]
}

if ! find_programs && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    packages=()
    [ -n "$CHROMIUM" ] || packages+=(chromium)
    command -v node >/dev/null || packages+=(nodejs)
    command -v npm >/dev/null || packages+=(npm)
    echo "browser: installing ${packages[*]}"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"; } >/dev/null 2>&1 || true
fi
find_programs || can_not "it takes node, npm and Chromium (Debian: apt-get install chromium nodejs npm); not all of them are here"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 18 ] || can_not "node is too old: it takes 18 or later"
export CHROMIUM

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export BROWSER_WORK="$work"

# The packages stand outside the repository: nothing is left behind.
cp "$here/package.json" "$work/"
(cd "$work" && npm install --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error >npm.log 2>&1) || {
    cat "$work/npm.log" >&2
    can_not "npm can't install playwright-core and axe-core"
}
export NODE_PATH="$work/node_modules"

if [ -z "${FRESHET:-}" ]; then
    (cd "$root" && cargo build --locked)
    FRESHET="${CARGO_TARGET_DIR:-$root/target}/debug/freshet"
fi
FRESHET="$(realpath "$FRESHET")"
export FRESHET
# Settings of the person who runs this are not those of the tests.
for name in $(compgen -e FRESHET_ || true); do
    unset "$name"
done
