/* SPDX-License-Identifier: Apache-2.0
 *
 * machine_model - how a kind of processor executes instructions when nothing is missing.
 *
 * Widths, ports, and for each class of operation what it is made of: tables, one file per
 * machine, listed in machine_models.def.  From the makers' optimisation guides, from
 * measurements (bench/models), and from LLVM's models where a file says so; tests/models
 * compares all of them with these.
 */
#ifndef DWELL_INSN_MACHINE_MODEL_H
#define DWELL_INSN_MACHINE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insn/operation.h"

#define MACHINE_MODEL_MAX_UNITS 3
#define MACHINE_MODEL_MAX_PORTS 24

/* A part of an instruction that occupies a port: each waits for the one before. */
struct machine_unit {
	uint32_t ports;	 /* any of them */
	uint8_t latency; /* until what waits for it can begin, in cycles */
	uint8_t busy;	 /* cycles that the port takes nothing else, 0: 1 */
};

/* No unit: done when it comes, as moves that only rename. */
struct machine_cost {
	uint8_t slots; /* of the width; 0: 1 */
	struct machine_unit units[MACHINE_MODEL_MAX_UNITS];
};

/* What is done by renaming, without a port. */
enum machine_elides {
	MACHINE_ELIDES_MOVES = 1,
	MACHINE_ELIDES_VECTOR_MOVES = 2,
	MACHINE_ELIDES_SMALL_SUMS = 4, /* of a 64-bit register and a small constant */
	MACHINE_ELIDES_SIGNS = 8,      /* extending what is loaded */
	MACHINE_ELIDES_NOPS = 16,      /* every second one takes no slot, either */
	MACHINE_ELIDES_BRANCHES = 32,  /* that go by what the one before compares */
	MACHINE_ELIDES_SMALL_ADDRESSES =
		64,			/* small sums that are computed as addresses */
	MACHINE_ELIDES_CONSTANTS = 128, /* moved to a register */
	MACHINE_ELIDES_BYTES =
		256, /* extending another register's lowest byte by zeros */
};

struct machine_model {
	const char *name, *summary;
	unsigned machine;		      /* EM_… of <elf.h> */
	uint8_t dispatch_width, retire_width; /* instructions or parts a cycle */
	uint16_t window;		      /* of them that are under way at most */
	/* Parts that wait for what they read, at most; vector 0: in the same place. */
	uint16_t waiting, vector_waiting;
	uint32_t elides;       /* enum machine_elides */
	uint8_t taken_width;   /* taken branches a cycle */
	uint8_t call_distance; /* cycles between two calls or returns, at least */
	uint8_t load_latency, vector_load_latency;
	uint8_t complex_latency; /* more, if the index is scaled or there are three parts
				  */
	/* The second level of caches: until what is there can be used, lines of 64 bytes;
	 * of what translates addresses, pages of 4 KB: those of the smallest of the
	 * processors, as makers' guides and manuals give them. 0: not known. */
	uint8_t l2_latency;
	uint32_t l2_lines;
	uint16_t l2_pages;
	/* From a branch that was foreseen wrongly until what is behind it retires, at
	 * worst, as its maker says; 0: it does not. */
	uint8_t refill;
	uint8_t forward_latency; /* from a store to the load of the same place */
	uint8_t vector_forward_latency;
	bool forwards_by_name; /* ... before the address is known, if made the same way */
	/* The same where a sum of registers is one with the load before it, or with both
	 * that and the store: never by name. 0: loads and sums are two. */
	uint8_t fused_forward_latency;
	uint8_t vector_bytes;  /* wider ones go in two halves */
	uint8_t divider_bytes; /* the same for divisions and roots */
	/* What a port moves at once, as of a pair of registers; 0: all. */
	uint8_t load_bytes, vector_load_bytes, store_bytes, vector_store_bytes;
	uint32_t load_ports, vector_load_ports;
	uint32_t store_address_ports, store_data_ports, vector_store_data_ports;
	struct machine_cost costs[OPERATION_N_CLASSES];
	/* Of an address that is computed with a scaled index; no slots: as its class. */
	struct machine_cost scaled_address;
	/* The processors that it is the model of: as /proc/cpuinfo has vendor, family and
	 * model; of aarch64 implementer, architecture and part. */
	struct machine_processor {
		const char *vendor;
		uint16_t family, first_model, last_model;
	} processors[12];
	/* What no older processor of the vendor has: all of the features, as
	 * cpus_processor() tells them.  One that has them has this core or a newer one,
	 * whatever number a hypervisor gives it. */
	uint16_t since; /* year of the first of them */
	struct machine_sign {
		const char *vendor, *features[2];
	} signs[3];
};

size_t machine_model_count(void);
const struct machine_model *machine_model_at(size_t i);
/* NULL: none has that name. */
const struct machine_model *machine_model_find(const char *name);
/* processor: "AuthenticAMD 25 17", "GenuineIntel 6 143 amx_tile", "0x41 8 0xd0c", or
 * NULL. That of its number, unless it has what only newer cores have: then, or if no
 * model is of its number, the newest whose signs it has; else the generic one. */
const struct machine_model *machine_model_of(unsigned machine, const char *processor);
/* It is what machine_model_of() has, but not made for this processor: it may be off. */
bool machine_model_is_nearest(const struct machine_model *m, const char *processor);

#endif
