#!/usr/bin/env bash
# Runs the smoke test with the oldest versions that pyproject.toml allows, on the oldest Python that it allows and that is at hand.
# Usage: bash scripts/oldest.sh
set -uo pipefail
cd "$(dirname "$0")/.."

. scripts/find_python.sh
for version in 3.10 3.11 3.12; do
    if python=$(find_python "$version"); then
        exec bash scripts/smoke.sh "oldest-$version" "$python" --oldest
    fi
done
echo "no Python from 3.10 to 3.12 is at hand: the oldest allowed versions are not tried" >&2
