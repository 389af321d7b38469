#!/usr/bin/env bash
# Runs scripts/smoke.py in an environment with the core dependencies alone, .venv-smoke/NAME, which is made once and kept until
# the requirements change.
# Usage: bash scripts/smoke.sh NAME PYTHON [--oldest]      such as: bash scripts/smoke.sh 3.10 python3.10
set -euo pipefail
cd "$(dirname "$0")/.."

name=$1 python=$2
shift 2
venv=.venv-smoke/$name
reader=${READER:-.venv/bin/python} # an interpreter that reads TOML
[ -x "$reader" ] || reader=$python
requirements=$("$reader" scripts/requirements.py "$@")
stamp="$("$python" -V 2>&1)
$requirements"

if [ "$(cat "$venv/stamp" 2>/dev/null)" != "$stamp" ]; then
    rm -rf "$venv"
    # Some distributions ship Python without ensurepip: then the pip that runs Python fills the empty environment.
    "$python" -m venv "$venv" 2>/dev/null || {
        "$python" -m venv --clear --without-pip "$venv"
        "$python" -m pip --python "$venv/bin/python" install --quiet pip
    }
    mapfile -t packages <<<"$requirements"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "${packages[@]}" >"$venv/pip.log" 2>&1 || {
        cat "$venv/pip.log" >&2
        exit 1
    }
    "$venv/bin/python" -m pip check --disable-pip-version-check >/dev/null
    printf '%s\n' "$stamp" >"$venv/stamp"
fi
OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$venv/bin/python" scripts/smoke.py
