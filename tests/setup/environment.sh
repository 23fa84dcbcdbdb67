#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds or refreshes a virtual environment with one dependency group of pyproject.toml.
# usage: environment.sh FOLDER PYTHON GROUP
folder=$1 python=$2 group=$3
log=$folder/setup.log

# Outside packages on these paths would hide what the environment lacks.
unset PYTHONPATH PYTHONHOME
fail() {
    echo "weft: $1 (the whole story: $log)" >&2
    exit 1
}

"$folder/bin/python" -c '' 2>/dev/null || "$python" -m venv --clear "$folder" ||
    { echo "weft: $python cannot make a virtual environment in $folder" >&2; exit 1; }
echo "Installing the dependency group '$group' into $folder"
# --group needs pip 25.1
"$folder/bin/python" -m pip install --upgrade 'pip>=25.1' >"$log" 2>&1 &&
    "$folder/bin/python" -m pip install --group "$group" >>"$log" 2>&1 ||
    fail "no network, or no such package: $(grep -i error "$log" | tail -n 1)"
case $group in bpy*)
    "$folder/bin/python" -c 'import bpy' >>"$log" 2>&1 ||
        fail "bpy does not start: $(tail -n 1 "$log")" ;;
esac
