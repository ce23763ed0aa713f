/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a page is made of, as it is in this folder, and behind each script and style its hash for
 * the page's Content-Security-Policy, which the build works out. html.c names them.
 */
	.section .rodata

	.macro asset name, file
	.globl web_\name
web_\name:
	.incbin "user/output/web/\file"
	.globl web_\name\()_end
web_\name\()_end:
	.endm

	.macro hashed name, file
	asset \name, \file
	.globl web_\name\()_hash
web_\name\()_hash:
	.incbin "user/output/web/\file\().hash"
	.globl web_\name\()_hash_end
web_\name\()_hash_end:
	.endm

	hashed uplot_css, vendor/uplot.css
	hashed frame_css, frame.css
	hashed uplot_js, vendor/uplot.js
	hashed d3_hierarchy_js, vendor/d3-hierarchy.js
	hashed frame_js, frame.js
	hashed table_js, table.js
	hashed runs_js, runs.js
	hashed icicle_js, icicle.js
	hashed heat_js, heat.js
	hashed roofline_js, roofline.js
	hashed timeline_js, timeline.js
	hashed report_js, report.js
	hashed diff_pictures_js, diff_pictures.js
	hashed diff_js, diff.js
	asset uplot_license, vendor/uplot.LICENSE
	asset d3_hierarchy_license, vendor/d3-hierarchy.LICENSE

	.section .note.GNU-stack, "", %progbits
