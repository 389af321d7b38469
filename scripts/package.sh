#!/usr/bin/env bash
# Builds the source package and the wheel into dist/, checks both, and runs the wheel in a fresh environment.
# Usage: bash scripts/package.sh      PYTHON=python3.12 bash scripts/package.sh picks another interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m venv "$work/build"
"$work/build/bin/python" -m pip install --quiet --disable-pip-version-check "build>=1.2" "twine>=6.1"
rm -rf dist
"$work/build/bin/python" -m build --outdir dist . >"$work/log" || { cat "$work/log" >&2; exit 1; }
"$work/build/bin/python" -m twine check --strict dist/*

"$python" -m venv "$work/fresh"
"$work/fresh/bin/python" -m pip install --quiet --disable-pip-version-check dist/*.whl
cd "$work"
"$work/fresh/bin/steelyard" --version
"$work/fresh/bin/steelyard" check puma560 --samples 4
"$work/fresh/bin/python" -c 'import steelyard as sy; print(sy.load("planar_2r").gravity_torque([0.1, 0.2]))'
echo "built and checked:"
ls -1sh "$OLDPWD/dist"
