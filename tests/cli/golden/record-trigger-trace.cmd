record -S --trigger load:1 -e cpu-clock -o {tmp}/x true
