// SPDX-License-Identifier: Apache-2.0
#include "symbol/elf/elf_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANGES_MAX 256	      /* segments; each symbol is compared with all of them */
#define NOTES_MAX  (1u << 20) /* bytes read of one note section */
/* Bytes of a section that are read: a file with holes may claim any number. */
#define SECTION_MAX ((uint64_t)1 << 30)
#define NAMES_MAX   (64u << 20) /* the same, of the names of sections */

int elf_open_regular(const char *path, uint64_t *ret_size)
{
	struct stat st;
	int fd, rc;

	/*
	 * Opening a device can have effects, so check before. Only the check after opening is free
	 * of races.
	 */
	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_size = (uint64_t)st.st_size;
	return fd;
}

size_t elf_note_build_id(const void *notes, size_t len, uint8_t ret[ELF_BUILD_ID_MAX])
{
	const uint8_t *p = notes;
	size_t pos = 0;

	while (len - pos >= 12) {
		uint32_t namesz, descsz, type;
		size_t name = pos + 12, desc;

		memcpy(&namesz, p + pos, 4);
		memcpy(&descsz, p + pos + 4, 4);
		memcpy(&type, p + pos + 8, 4);
		if (namesz > len - name)
			break;
		desc = name + (((size_t)namesz + 3) & ~(size_t)3);
		if (desc > len || descsz > len - desc)
			break;
		if (type == NT_GNU_BUILD_ID && namesz == 4 && !memcmp(p + name, "GNU", 4) &&
		    descsz && descsz <= ELF_BUILD_ID_MAX) {
			memcpy(ret, p + desc, descsz);
			return descsz;
		}
		pos = desc + (((size_t)descsz + 3) & ~(size_t)3);
		if (pos > len)
			break;
	}
	return 0;
}

bool elf_build_id_same(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize)
{
	size_t i, common = asize < bsize ? asize : bsize;

	if (common < 4 || memcmp(a, b, common))
		return false;
	for (i = common; i < asize; i++) {
		if (a[i])
			return false;
	}
	for (i = common; i < bsize; i++) {
		if (b[i])
			return false;
	}
	return true;
}

Elf_Data *elf_section_data(Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data;

	if (shdr->sh_type == SHT_NOBITS || !shdr->sh_size || shdr->sh_size > SECTION_MAX ||
	    (shdr->sh_flags & SHF_COMPRESSED))
		return NULL;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

Elf_Scn *elf_section(const struct elf_image *img, const char *name, GElf_Shdr *ret_shdr)
{
	Elf_Scn *scn = NULL;
	const char *s;
	size_t strndx;

	if (elf_getshdrstrndx(img->elf, &strndx) ||
	    !gelf_getshdr(elf_getscn(img->elf, strndx), ret_shdr) || ret_shdr->sh_size > NAMES_MAX)
		return NULL;
	while ((scn = elf_nextscn(img->elf, scn))) {
		if (!gelf_getshdr(scn, ret_shdr))
			continue;
		s = elf_strptr(img->elf, strndx, ret_shdr->sh_name);
		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

/* Notes are words in the file's byte order; elf_getdata() converts their headers. */
static void find_build_id(struct elf_image *img)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Phdr phdr;
	Elf_Data *data;
	size_t i, n;

	while (!img->build_id_size && (scn = elf_nextscn(img->elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_NOTE ||
		    shdr.sh_size > NOTES_MAX)
			continue;
		data = elf_section_data(scn, &shdr);
		if (data)
			img->build_id_size =
				elf_note_build_id(data->d_buf, data->d_size, img->build_id);
	}
	if (img->build_id_size || elf_getphdrnum(img->elf, &n))
		return;
	for (i = 0; i < n && !img->build_id_size; i++) {
		if (!gelf_getphdr(img->elf, (int)i, &phdr))
			return;
		if (phdr.p_type != PT_NOTE || phdr.p_filesz > NOTES_MAX ||
		    phdr.p_offset > INT64_MAX)
			continue;
		data = elf_getdata_rawchunk(img->elf, (int64_t)phdr.p_offset, phdr.p_filesz,
					    ELF_T_NHDR);
		if (data && data->d_buf)
			img->build_id_size =
				elf_note_build_id(data->d_buf, data->d_size, img->build_id);
	}
}

static int image_init(struct elf_image *img, const char *what, struct error *err)
{
	if (!img->elf || elf_kind(img->elf) != ELF_K_ELF || !gelf_getehdr(img->elf, &img->ehdr))
		return error_set(err, -EBADMSG, "%s: not an ELF file", what);
	if (elf_getshdrnum(img->elf, &img->nsections))
		return error_set(err, -EBADMSG, "%s: damaged or truncated ELF file: %s", what,
				 elf_errmsg(-1));
	if (img->ehdr.e_shoff && img->ehdr.e_shoff >= img->size)
		return error_set(err, -EBADMSG,
				 "%s: truncated ELF file: section headers at 0x%llx, %llu bytes",
				 what, (unsigned long long)img->ehdr.e_shoff,
				 (unsigned long long)img->size);
	find_build_id(img);
	return 0;
}

int elf_image_open(const char *path, struct elf_image *ret, struct error *err)
{
	struct elf_image img = ELF_IMAGE_INIT;
	int rc;

	img.fd = elf_open_regular(path, &img.size);
	if (img.fd == -EINVAL)
		return error_set(err, -EINVAL, "%s: not a regular file", path);
	if (img.fd < 0)
		return error_sys(err, img.fd, "%s", path);
	img.elf = elf_begin(img.fd, ELF_C_READ, NULL);
	rc = image_init(&img, path, err);
	if (rc)
		elf_image_close(&img);
	else
		*ret = img;
	return rc;
}

static int open_memory(const struct buf *mem, bool borrowed, struct elf_image *ret,
		       struct error *err)
{
	struct elf_image img = ELF_IMAGE_INIT;
	int rc;

	img.mem = *mem;
	img.borrowed = borrowed;
	img.size = img.mem.len;
	if (img.mem.len >= EI_NIDENT)
		img.elf = elf_memory((char *)img.mem.data, img.mem.len);
	rc = image_init(&img, "image in memory", err);
	if (rc)
		elf_image_close(&img);
	else
		*ret = img;
	return rc;
}

int elf_image_memory(struct buf *mem, struct elf_image *ret, struct error *err)
{
	struct buf taken = *mem;

	*mem = (struct buf){0};
	return open_memory(&taken, false, ret, err);
}

int elf_image_borrow(const struct buf *mem, struct elf_image *ret, struct error *err)
{
	return open_memory(mem, true, ret, err);
}

void elf_image_close(struct elf_image *img)
{
	if (img->elf)
		elf_end(img->elf);
	if (img->fd >= 0)
		close(img->fd);
	if (!img->borrowed)
		buf_release(&img->mem);
	*img = (struct elf_image)ELF_IMAGE_INIT;
}

ssize_t elf_image_read(const struct elf_image *img, uint64_t at, void *buf, size_t len)
{
	ssize_t n;

	if (img->fd < 0) {
		if (at >= img->mem.len)
			return 0;
		if (len > img->mem.len - at)
			len = img->mem.len - at;
		memcpy(buf, img->mem.data + at, len);
		return (ssize_t)len;
	}
	if (at > INT64_MAX - len)
		return 0;
	do
		n = pread(img->fd, buf, len, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int elf_space_file(const struct elf_image *img, struct elf_space *ret, struct error *err)
{
	struct elf_space s = {0};
	GElf_Phdr phdr;
	size_t i, n, cap = 0;
	bool hollow = false;

	if (elf_getphdrnum(img->elf, &n))
		n = 0;
	for (i = 0; i < n && s.count < RANGES_MAX; i++) {
		if (!gelf_getphdr(img->elf, (int)i, &phdr))
			break;
		if (phdr.p_type != PT_LOAD || phdr.p_vaddr + phdr.p_memsz < phdr.p_vaddr)
			continue;
		/*
		 * objcopy --only-keep-debug leaves program headers with offsets that are not valid
		 * in its file
		 */
		hollow |= (phdr.p_flags & PF_X) && !phdr.p_filesz && phdr.p_memsz;
		if (array_grow(&s.ranges, &cap, s.count + 1, sizeof(*s.ranges))) {
			elf_space_release(&s);
			return error_set(err, -ENOMEM, "out of memory");
		}
		s.ranges[s.count++] = (struct elf_range){phdr.p_vaddr, phdr.p_vaddr + phdr.p_memsz,
							 phdr.p_offset - phdr.p_vaddr};
	}
	if (!s.count || hollow) {
		elf_space_release(&s);
		return error_set(err, -EBADMSG,
				 hollow ? "only a debug file was found, and its headers lack the "
					  "offsets in the program"
					: "no loadable segments");
	}
	*ret = s;
	return 0;
}

int elf_space_shift(uint64_t delta, struct elf_space *ret)
{
	struct elf_space s = {.count = 1};

	s.ranges = malloc(sizeof(*s.ranges));
	if (!s.ranges)
		return -ENOMEM;
	s.ranges[0] = (struct elf_range){0, UINT64_MAX, delta};
	*ret = s;
	return 0;
}

int elf_space_module(const struct elf_image *img, struct elf_space *ret)
{
	struct elf_space s = {.nsections = img->nsections};
	uint64_t at = 0, align;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	const char *name;
	size_t strndx;

	s.sections = malloc((s.nsections + 1) * sizeof(*s.sections));
	if (!s.sections)
		return -ENOMEM;
	memset(s.sections, 0xff, (s.nsections + 1) * sizeof(*s.sections));
	if (elf_getshdrstrndx(img->elf, &strndx))
		strndx = 0;
	while ((scn = elf_nextscn(img->elf, scn))) {
		size_t i = elf_ndxscn(scn);

		if (i >= s.nsections || !gelf_getshdr(scn, &shdr) ||
		    (shdr.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) != (SHF_ALLOC | SHF_EXECINSTR))
			continue;
		name = elf_strptr(img->elf, strndx, shdr.sh_name);
		if (!name || !strncmp(name, ".init", 5))
			continue;
		align = shdr.sh_addralign > 1 && shdr.sh_addralign <= 1 << 21 ? shdr.sh_addralign
									      : 1;
		at = (at + align - 1) / align * align;
		s.sections[i] = at;
		if (__builtin_add_overflow(at, shdr.sh_size, &at) || at > INT64_MAX)
			break;
	}
	*ret = s;
	return 0;
}

bool elf_space_map(const struct elf_space *s, size_t section, uint64_t addr, uint64_t *ret)
{
	size_t i;

	if (s->sections) {
		if (section >= s->nsections || s->sections[section] == UINT64_MAX)
			return false;
		*ret = s->sections[section] + addr;
		return true;
	}
	for (i = 0; i < s->count; i++) {
		if (addr >= s->ranges[i].start && addr < s->ranges[i].end) {
			*ret = addr + s->ranges[i].delta;
			return true;
		}
	}
	return false;
}

bool elf_space_unmap(const struct elf_space *s, uint64_t addr, uint64_t *ret)
{
	for (size_t i = 0; i < s->count; i++) {
		uint64_t linked = addr - s->ranges[i].delta;

		if (linked >= s->ranges[i].start && linked < s->ranges[i].end) {
			*ret = linked;
			return true;
		}
	}
	return false;
}

void elf_space_release(struct elf_space *s)
{
	free(s->ranges);
	free(s->sections);
	*s = (struct elf_space){0};
}
