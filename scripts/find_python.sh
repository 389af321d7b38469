# Gives `find_python 3.10`: prints an interpreter of that version, from the PATH or of pyenv, or fails.
find_python() {
    local version=$1 candidate
    for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
        # a shim of pyenv is there for versions that it refuses to run
        if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" 2>/dev/null; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}
