/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a program: nodes of expressions, and pieces of a line. Internal to data/tracing. */
#ifndef RINGTAIL_DATA_TRACING_TRACING_PROGRAM_PRIV_H
#define RINGTAIL_DATA_TRACING_TRACING_PROGRAM_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/tracing/tracing_program.h"

/* Of numbers; the library computes with unsigned ones of 64 bits. */
enum node_op {
	NODE_CONSTANT,
	NODE_NUMBER, /* in the record: @offset, @size */
	NODE_LENGTH, /* of the data of the dynamic field at @offset */
	NODE_MASKED, /* @a & @value */
	NODE_NOT,    /* of @b */
	NODE_INVERT, /* of @b */
	NODE_OR,
	NODE_OR_ELSE,
	NODE_AND,
	NODE_AND_ALSO,
	NODE_LESS,
	NODE_LESS_EQUAL,
	NODE_GREATER,
	NODE_GREATER_EQUAL,
	NODE_EQUAL,
	NODE_UNEQUAL,
	NODE_SHIFT_LEFT,
	NODE_SHIFT_RIGHT,
	NODE_ADD,
	NODE_SUBTRACT,
	NODE_MULTIPLY,
	NODE_DIVIDE, /* by @b, a constant that is not 0 */
	NODE_CHOICE, /* @a ? @b : @c */
	/* Of texts. */
	NODE_TEXT,	  /* @offset, @size in the program's texts */
	NODE_TEXT_FIELD,  /* @offset, @size in the record, up to a NUL */
	NODE_TEXT_DATA,	  /* of the dynamic field at @offset; @value is added to its place */
	NODE_TEXT_FLAGS,  /* of number @a: names from @first, @count; delimiter @offset, @size */
	NODE_TEXT_SYMBOL, /* as above, without delimiter */
	NODE_TEXT_CHOICE, /* @a ? @b : @c */
	NODE_TEXT_NONE,
};

struct program_node {
	enum node_op op;
	uint32_t a, b, c; /* other nodes, made before */
	uint32_t offset, size;
	uint32_t first, count;
	uint64_t value;
};

/* {value, "text"} */
struct program_name {
	int64_t value;
	uint32_t text, len;
};

#define NUMBER_MAX 32 /* bytes of a number, padded; wider ones are printf()'s */

/* A literal text, and a conversion of an argument behind it. */
struct program_piece {
	enum {
		PIECE_LITERAL, /* the text alone */
		PIECE_NUMBER,  /* @node as a number */
		PIECE_PRINTF,  /* @node as a number, by printf() with the format at @format */
		PIECE_POINTER, /* "%p" */
		PIECE_TEXT,    /* @node as a text */
	} kind;
	uint32_t text, len;
	uint32_t node;
	/* Of a conversion: */
	uint32_t format;
	int ls; /* the library's count of 'l', less those of 'h': -2 to 2 */
	char type;
	uint8_t unused; /* upper bits of the value that are not converted */
	bool left, zeros, alternate;
	uint32_t width;
};

struct tracing_program {
	struct program_node *nodes;
	size_t nr_nodes, cap_nodes;
	struct program_name *names;
	size_t nr_names, cap_names;
	struct program_piece *pieces;
	size_t nr_pieces, cap_pieces;
	struct buf texts;
	uint32_t end; /* of the last field that is read; shorter records are the library's */
};

#endif
