#!/usr/bin/env bash
# Runs the smoke test on every Python from 3.10 to 3.13 that is at hand, and reports which were not.
# Usage: bash scripts/pythons.sh                            VERSIONS="3.10 3.13" bash scripts/pythons.sh picks some.
#        FULL=1 bash scripts/pythons.sh [pytest arguments]  runs all tests instead, each in an environment of its own (.venv-3.10, ...).
# Format, lint, types and layers are of the source, not of a Python: scripts/test.sh checks them once.
set -uo pipefail
cd "$(dirname "$0")/.."

. scripts/find_python.sh
summary=() failed=0
for version in ${VERSIONS:-3.10 3.11 3.12 3.13}; do
    if ! python=$(find_python "$version"); then
        summary+=("$version  not at hand")
        continue
    fi
    if [ -n "${FULL:-}" ]; then
        echo "==== Python $version: $python"
        TESTS_ONLY=1 PYTHON=$python VENV=.venv-$version bash scripts/test.sh "$@"
    else
        bash scripts/smoke.sh "$version" "$python"
    fi
    if [ $? = 0 ]; then
        summary+=("$version  passed")
    else
        summary+=("$version  FAILED")
        failed=1
    fi
done
printf '%s\n' "" "${summary[@]}"
exit $failed
