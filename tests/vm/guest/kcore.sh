# SPDX-License-Identifier: GPL-2.0
# The kernel's code, recorded by ringtail and by perf. Then the kernel's own files are hidden, so that only the
# recordings have its code and symbols.
insmod /usr/lib/auxsim.ko
ringtail record --kcore -o again.data -e cpu-clock -a -- true; echo "first: $?"
ringtail record --kcore -o again.data -e cpu-clock -a -- true; echo "kept: $?"
ringtail record --kcore -o again.data -e cpu-clock -a -- true; echo "deleted: $?"
echo "recordings:" *.data*
ringtail record --kcore --symbols none -o ours.data -e cpu-clock -c 1000000 -a -- workload 2; echo "ours: $?"
ringtail record --kcore --symbols none -o module.data -e cpu-clock,kprobe:axs_event_init -a -- \
	ringtail record -e auxsim/bytes=64/u -o trace.data -- true; echo "module: $?"
perf record --kcore -o perf.data -e cpu-clock -c 1000000 -a -- workload 2 >/dev/null 2>&1; echo "perf: $?"
for name in ours module; do
	perf report -v -i $name.data --stdio --sort sym >perf.txt 2>&1
	sed -n "s/^Using /perf-$name-uses: /p" perf.txt
	[ $name = module ] && symbol=axs_event_init || symbol=
	echo "perf-$name-shows: $(grep -m 1 "\[k\] ${symbol:-[a-z_]}" perf.txt)"
done
for file in kcore kallsyms modules; do
	mount --bind /dev/null /proc/$file
done
for name in ours module perf; do
	[ $name = module ] && symbol=axs_event_init || symbol=
	line=$(ringtail report -i $name.data --stdio --sort dso,sym 2>/dev/null | grep -m 1 "\[k\] ${symbol:-[a-z_]}")
	echo "$name-shows: $line"
	ringtail annotate -i $name.data --stdio -s "${line##* }" >$name.txt 2>&1; echo "$name-annotate: $?"
	echo "$name-code: $(grep -c -E ' (mov|push|ret|call|hlt|lock|jmp|test|cmp)' $name.txt)"
	[ $name != ours ] || known=${line##* }
done
mkdir none; mv ours.data/kcore_dir none
ringtail annotate -i ours.data --stdio -s "$known" >none.txt 2>&1
echo "none-annotate: $?"
