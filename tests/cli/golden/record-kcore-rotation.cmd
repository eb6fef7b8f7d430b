record --kcore --switch-output=1M -o {tmp}/x -- true
