#!/usr/bin/env bash
# Runs the tests on every Python from 3.10 to 3.13 that is at hand, each in an environment of its own (.venv-3.10, ...), and says which
# were not. Format, lint, types and layers are of the source, not of a Python: scripts/test.sh checks them once. (The last NumPy for
# Python 3.10 has other types than the ones that are checked.)
# Usage: bash scripts/pythons.sh [pytest arguments]      VERSIONS="3.10 3.13" bash scripts/pythons.sh picks some.
set -uo pipefail
cd "$(dirname "$0")/.."

told=() failed=0
for version in ${VERSIONS:-3.10 3.11 3.12 3.13}; do
    python=""
    for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
        # a shim of pyenv is there for versions that it refuses to run
        if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null; then
            python=$candidate
            break
        fi
    done
    if [ -z "$python" ]; then
        told+=("$version  not at hand")
        continue
    fi
    echo "==== Python $version: $python"
    if TESTS_ONLY=1 PYTHON=$python VENV=.venv-$version bash scripts/test.sh "$@"; then
        told+=("$version  passed")
    else
        told+=("$version  FAILED")
        failed=1
    fi
done
printf '%s\n' "" "${told[@]}"
exit $failed
