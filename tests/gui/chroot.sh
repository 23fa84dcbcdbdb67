#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Makes a Debian with a Blender that opens windows on a virtual screen: Blender 4.3 of trixie, 5.2 of sid.
# usage: chroot.sh FOLDER SUITE    (exit status 77, with the reason: it cannot be made here)
set -u
folder=$1 suite=$2
packages='blender xvfb xdotool imagemagick libgl1-mesa-dri libgl1 libegl1 python3-numpy procps'
[ "$suite" = trixie ] || packages="$packages python3-cattr python3-requests python3-openvdb"
refuse() {
    echo "$1"
    exit 77
}

[ -e "$folder/ready" ] && exit 0
[ "$(id -u)" = 0 ] || refuse 'a Debian of its own can only be made by root'
command -v debootstrap >/dev/null || refuse 'debootstrap is missing: apt-get install debootstrap'
# The mirror of this machine's own apt, without the security archive, which has no base system.
mirror=$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    sed -nE 's,^Debian (.*[^/])/*$,\1,p' | grep -v security | head -n 1)
[ -n "$mirror" ] || refuse "apt of this machine has no Debian archive: add one, then apt-get update"
mkdir -p "$folder"
debootstrap --variant=minbase "$suite" "$folder" "$mirror" \
    >"$folder.log" 2>&1 || refuse "debootstrap fails: $(tail -n 1 "$folder.log")"
chroot "$folder" sh -c "apt-get -qq -o Acquire::Check-Valid-Until=false update && DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq -y --no-install-recommends $packages" >>"$folder.log" 2>&1 ||
    refuse "Blender cannot be installed: $(tail -n 1 "$folder.log")"
touch "$folder/ready"
