#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Installs the system packages that are missing, or names them in one line where it may not.
# usage: system_packages.sh PYTHON...   interpreters that must build virtual environments
PATH=$PATH:/usr/sbin:/sbin
missing=
want() { missing="$missing $*"; }

command -v cc >/dev/null || want gcc libc6-dev
# What the bpy wheels load: found with a bare Debian, one import error after the other.
libraries=$(ldconfig -p)
while read -r library package; do
    case $libraries in *"$library "*) ;; *) want "$package" ;; esac
done <<END
libX11.so.6 libx11-6
libXrender.so.1 libxrender1
libXxf86vm.so.1 libxxf86vm1
libXfixes.so.3 libxfixes3
libXi.so.6 libxi6
libSM.so.6 libsm6
libGL.so.1 libgl1
libEGL.so.1 libegl1
libxkbcommon.so.0 libxkbcommon0
libgomp.so.1 libgomp1
END
for python in "$@"; do
    # Debian splits off what builds environments, and what `cargo test` links the binding against.
    want "$("$python" -c "
import importlib.util, os, sysconfig
version = sysconfig.get_python_version()
if not importlib.util.find_spec('ensurepip'):
    print(f'python{version}-venv')
get = sysconfig.get_config_var
folders = [get('LIBDIR'), os.path.join(get('LIBDIR'), get('MULTIARCH') or ''), get('LIBPL')]
if not any(os.path.exists(os.path.join(f, get('LDLIBRARY'))) for f in folders):
    print(f'libpython{version}-dev')")"
done
# shellcheck disable=SC2086 # splits into words, and the empty ones vanish
set -- $missing
[ $# -eq 0 ] && exit 0

as_root=
[ "$(id -u)" -eq 0 ] || as_root='sudo -n'
if command -v apt-get >/dev/null && $as_root true 2>/dev/null; then
    echo "Installing system packages: $*"
    export DEBIAN_FRONTEND=noninteractive
    if $as_root apt-get update -qq >/dev/null &&
        $as_root apt-get install -y -qq --no-install-recommends "$@" >/dev/null; then
        exit 0
    fi
fi
echo "weft: system packages are missing; please install them: apt-get install $*" >&2
exit 1
