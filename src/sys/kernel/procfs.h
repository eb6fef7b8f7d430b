/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsers for the lines of procfs files. Pure functions over text, except mount_find().
 *
 * Strings in the results point into the line; they are not NUL-terminated, and live as long as it.
 * A parser returns 0, or -EBADMSG if the line has another form; then *@ret is untouched.
 * Source: Documentation/filesystems/proc.rst; fs/proc/task_mmu.c, fs/proc/array.c,
 * kernel/module/procfs.c, kernel/kallsyms.c (6.18).
 */
#ifndef RINGTAIL_SYS_KERNEL_PROCFS_H
#define RINGTAIL_SYS_KERNEL_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Walks the lines of a text in place: @ret gets each without its newline. */
struct text_lines {
	char *next, *end;
};
bool text_next_line(struct text_lines *it, char **ret, size_t *ret_len);

/* /proc/PID/maps: "5573-5577 r-xp 00002000 fe:00 247134     /usr/bin/cat" */
struct proc_map {
	uint64_t start, end, pgoff;
	uint32_t prot, flags; /* PROT_*; MAP_SHARED or MAP_PRIVATE */
	uint32_t maj, min;
	uint64_t ino;
	const char *name; /* as the kernel's own records have it: "\012" is a newline again */
	size_t name_len;  /* 0: anonymous */
};
int proc_map_parse(char *line, size_t len, struct proc_map *ret);

/* /proc/PID/task/TID/stat: comm may hold spaces, parentheses and newlines. */
struct proc_stat {
	const char *comm;
	size_t comm_len;
	pid_t ppid;
	bool kthread;
	uint32_t nr_threads;
};
int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret);

/* /proc/modules: "name 16384 1 dep,dep, Live 0xffffffffc0000000 (OE)" */
struct proc_module {
	const char *name;
	size_t name_len;
	uint64_t addr, size; /* address 0: hidden by kptr_restrict */
};
int proc_module_parse(const char *line, size_t len, struct proc_module *ret);

/* /proc/kallsyms: "ffffffff81000000 T _text" or "… t name\t[module]" */
struct proc_kallsym {
	uint64_t addr; /* 0: hidden, or a per-CPU symbol of an older kernel */
	char type;
	const char *name;
	size_t name_len;
	const char *module; /* without brackets */
	size_t module_len;  /* 0: of the kernel itself */
};
int proc_kallsym_parse(const char *line, size_t len, struct proc_kallsym *ret);

/*
 * Finds the first mount of file system @type in the list @mounts ("/proc/mounts"), with mount
 * option @option unless that is NULL. Writes its directory to @ret of @size bytes. Returns 0,
 * -ENOENT or another negative errno.
 */
int mount_find(const char *mounts, const char *type, const char *option, char *ret, size_t size);

#endif
