/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parquet: tables of samples, stacks and maps, for DuckDB, ClickHouse and other engines.
 *
 * ringtail-export(1) has the schema. Memory holds the rows of one group of each table, and tables
 * of functions, files and distinct stacks. One thread.
 */
#ifndef RINGTAIL_EXPORT_PARQUET_PARQUET_H
#define RINGTAIL_EXPORT_PARQUET_PARQUET_H

#include "export/stream/export.h"

extern const struct export_format export_parquet;

#endif
