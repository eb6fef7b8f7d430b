# SPDX-License-Identifier: GPL-2.0
ringtail record -o default.data -- workload 4; echo "default: $?"
ringtail record -e instructions -o x.data -- true; echo "instructions: $?"
emit default.data
