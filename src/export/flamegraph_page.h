/* SPDX-License-Identifier: Apache-2.0
 *
 * flamegraph_page - the flame graph's page around its data, made by embed_page.py
 * from flamegraph.html, flamegraph.css and flamegraph.js.
 */
#ifndef DWELL_EXPORT_FLAMEGRAPH_PAGE_H
#define DWELL_EXPORT_FLAMEGRAPH_PAGE_H

extern const char flamegraph_page_head[], flamegraph_page_tail[];

#endif
