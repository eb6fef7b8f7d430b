record --kcore -M 1M -o {tmp}/x -- true
