#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# views.sh SRC VIEWS FLOOR...: makes VIEWS/FLOOR_NAME, a folder that holds a link to the floor alone,
# so that a compiler told of some views sees the headers of these floors and no others.
set -e
src=$1
views=$2
shift 2
rm -rf "$views"
for floor in "$@"; do
	view=$views/$(printf %s "$floor" | tr -c 'a-zA-Z0-9' _)
	mkdir -p "$view/$(dirname "$floor")"
	ln -s "$src/$floor" "$view/$floor"
done
