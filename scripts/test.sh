#!/usr/bin/env bash
# Sets everything up in .venv and passes the tests: format, lint, types, layers, smoke tests on other Pythons, pytest.
# Usage: bash scripts/test.sh [pytest arguments]      PYTHON=python3.12 bash scripts/test.sh picks another interpreter,
# TESTS_ONLY=1 leaves out what is about the source alone, and the smoke tests on other Pythons and with the oldest dependencies.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
venv=${VENV:-.venv}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
    echo "steelyard needs Python 3.10 or newer; '$python' is $("$python" -V 2>&1). Name another one: PYTHON=python3.12 bash scripts/test.sh" >&2
    exit 1
}
if [ ! -x "$venv/bin/python" ]; then
    # Some distributions ship Python without ensurepip: then the pip that runs Python fills the empty environment.
    "$python" -m venv "$venv" 2>/dev/null || {
        "$python" -m venv --clear --without-pip "$venv"
        "$python" -m pip --python "$venv/bin/python" install --quiet pip
    }
fi
# The pip that comes with an older Python can search for many minutes among versions that a newer one settles in seconds.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable ".[all,test]"

# A browser works the page in tests/page. Where there is none and it cannot be installed, these tests are skipped with a sentence.
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
    if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] && apt-get install --yes --quiet chromium >/dev/null 2>&1; then
        echo "installed chromium, in which the page is tested"
    else
        echo "there is no Chromium, and it cannot be installed here: the page is not tested in a browser (apt-get install chromium)" >&2
    fi
fi

# pytest runs one worker a core: linear algebra that starts threads of its own would only make them wait for each other.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

failed=()
step() {
    local name=$1 started=$SECONDS
    shift
    echo "== $name"
    "$@" || failed+=("$name")
    echo "   $((SECONDS - started)) s"
}
if [ -z "${TESTS_ONLY:-}" ]; then
    step "format" "$venv/bin/ruff" format --check .
    step "lint" "$venv/bin/ruff" check .
    step "types" "$venv/bin/mypy"
    step "layers" "$venv/bin/lint-imports" --no-cache
fi
if [ -z "${TESTS_ONLY:-}" ]; then
    step "pythons" env READER="$venv/bin/python" bash scripts/pythons.sh
    step "oldest dependencies" env READER="$venv/bin/python" bash scripts/oldest.sh
fi
step "tests" "$venv/bin/python" -m pytest "$@"

if [ ${#failed[@]} -gt 0 ]; then
    echo "FAILED: ${failed[*]}" >&2
    exit 1
fi
echo "all passed in $SECONDS s"
