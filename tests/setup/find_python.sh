#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Prints a Python interpreter of the wanted version that really runs, nothing where there is none.
# usage: find_python.sh 3.11    exactly that minor version
#        find_python.sh 3.11+   that one or any newer
wanted=$1
minor=${wanted#3.}
case $minor in
*+) minor=${minor%+} test='>=' newer='python3.12 python3.13 python3.14' ;;
*) test='==' newer='' ;;
esac
# A pyenv shim may stand on PATH and fail when run, so its versions are looked up as well, and each
# candidate is asked for its real path.
for candidate in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}/versions/3.$minor".*/bin/python3 \
    $newer python3; do
    "$candidate" -c "import sys
if not sys.version_info[:2] $test (3, $minor): raise SystemExit(1)
print(sys.executable)" 2>/dev/null && exit 0
done
exit 0
