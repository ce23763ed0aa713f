// SPDX-License-Identifier: GPL-2.0-only
// What the page of a comparison draws: runs of both sides, bars of what changed, icicles of both.
"use strict";

// How runs of both sides are spread: sides [{title, kind, values}] of ns.
opprobe.spread = (place, sides) => {
	const { el, svg, format, painted, alternative } = opprobe;
	const all = sides.flatMap((side) => side.values).sort((a, b) => a - b);
	const at = (list, share) => list[Math.min(list.length - 1, Math.floor(share * list.length))];
	// The slowest may be many times as long: beyond this they are one bar.
	const low = all[0], high = Math.min(all.at(-1), at(all, 0.99) * 1.25) || 1;
	const BINS = 48, width = (high - low) / BINS || 1;
	const bins = sides.map((side) => {
		const counts = new Array(BINS + 1).fill(0);
		for (const value of side.values)
			counts[Math.min(BINS, Math.max(0, Math.floor((value - low) / width)))]++;
		return counts.map((n) => n / (side.values.length || 1));
	});
	const most = Math.max(...bins.flat());
	const medians = sides.map((side) => at([...side.values].sort((a, b) => a - b), 0.5));
	const picture = el("div", { class: "picture", role: "img", "aria-label": sides.map((side, i) =>
		`${side.title}: ${format.count(side.values.length)} runs, median ${format.ns(medians[i])}`).join("; ") });
	const HEIGHT = 110;

	painted(picture, () => {
		const room = Math.max(200, picture.clientWidth), step = room / (BINS + 1);
		const x = (value) => Math.min(room - step, (value - low) / width * step);
		picture.replaceChildren(svg("svg", { width: room, height: sides.length * HEIGHT + 24 }, sides.map((side, i) => {
			const base = (i + 1) * HEIGHT;
			return [
				svg("line", { class: "grid", x1: 0, x2: room, y1: base, y2: base }),
				bins[i].map((share, k) => share ? svg("rect", { class: "spread", x: k * step + 0.5, width: Math.max(1, step - 1),
					y: base - (HEIGHT - 34) * share / most, height: (HEIGHT - 34) * share / most, fill: `var(--${side.kind})` }) : null),
				svg("line", { x1: x(medians[i]), x2: x(medians[i]), y1: base - HEIGHT + 26, y2: base, stroke: "var(--text)", "stroke-dasharray": "3 3" }),
				svg("text", { x: 2, y: base - HEIGHT + 18, text: `${side.title}: median ${format.ns(medians[i])}, ${format.count(side.values.length)} runs` }),
			];
		}), svg("text", { x: 0, y: sides.length * HEIGHT + 18, text: format.ns(low) }),
		svg("text", { x: room, y: sides.length * HEIGHT + 18, "text-anchor": "end", text: (high < all.at(-1) ? "≥ " : "") + format.ns(high) })));
	});
	place.append(picture, alternative("How runs are spread", [{ title: "From", unit: "ns" }, { title: "To", unit: "ns" }, ...sides.map((side) => ({ title: side.title, unit: "share" }))],
		() => bins[0].map((_, k) => [low + k * width, k < BINS ? low + (k + 1) * width : all.at(-1), ...bins.map((counts) => counts[k])])));
};

// Runs over time, each side from its own beginning: sides [{title, kind, runs: [[start, ns]]}].
opprobe.overTime = (place, sides) => {
	const { el, svg, format, painted } = opprobe;
	const runs = sides.flatMap((side) => side.runs);
	const end = Math.max(...runs.map(([start, ns]) => start + ns), 1), most = Math.max(...runs.map(([, ns]) => ns), 1);
	const picture = el("div", { class: "picture", role: "img", "aria-label": "Runs over time, of both recordings" });
	const HEIGHT = 210;

	painted(picture, () => {
		const room = Math.max(200, picture.clientWidth);
		picture.replaceChildren(svg("svg", { width: room, height: HEIGHT + 24 },
			[0, 0.5, 1].map((part) => [svg("line", { class: "grid", x1: 0, x2: room, y1: HEIGHT * (1 - part) + 4, y2: HEIGHT * (1 - part) + 4 }),
				svg("text", { x: 2, y: HEIGHT * (1 - part) + (part ? 18 : -4), text: format.ns(part * most) })]),
			sides.map((side) => side.runs.map(([start, ns]) => svg("circle", { class: "dot", r: side.runs.length > 800 ? 1.6 : 2.6,
				cx: start / end * (room - 6) + 3, cy: 4 + HEIGHT * (1 - ns / most), fill: `var(--${side.kind})` }))),
			svg("text", { x: room, y: HEIGHT + 20, "text-anchor": "end", text: format.ns(end) })));
	});
	place.append(picture);
};

// Bars of what changed most: rows {name, by, low, high, about}, in ns.
opprobe.bars = (place, rows) => {
	const { el, svg, format, painted, name, tipOf } = opprobe;
	const reach = Math.max(...rows.flatMap((row) => [row.by, row.low ?? 0, row.high ?? 0].map(Math.abs)), 1);
	const signed = (ns) => (ns < 0 ? "-" : "+") + format.ns(Math.abs(ns));

	place.append(el("div", { class: "heat" }, rows.map((row) => {
		const bar = el("div", { class: "picture change", tabindex: 0, role: "img", "data-by": row.by, "aria-label": opprobe.clean(`${row.name}: ${signed(row.by)}, ${row.about}`) });
		painted(bar, () => {
			const room = Math.max(80, bar.clientWidth), x = (ns) => room / 2 + ns / reach * (room / 2 - 4);
			const left = Math.min(x(0), x(row.by));
			bar.replaceChildren(svg("svg", { width: room, height: 22 },
				svg("line", { class: "grid", x1: x(0), x2: x(0), y1: 0, y2: 22 }),
				svg("rect", { x: left, y: 4, height: 14, width: Math.max(1, Math.abs(x(row.by) - x(0))), fill: row.by > 0 ? "var(--warm)" : "var(--cold)" }),
				row.low !== null && row.high !== null ? svg("path", { d: `M${x(row.low)},11H${x(row.high)}M${x(row.low)},7V15M${x(row.high)},7V15`, stroke: "var(--text)", fill: "none" }) : null,
				svg("text", { x: x(0) + (row.by > 0 ? -6 : 6), y: 15, "text-anchor": row.by > 0 ? "end" : "start", text: `${signed(row.by)}${row.short ? ", " + row.short : ""}` })));
		});
		tipOf(bar, () => [row.name, [["change", signed(row.by)], ["95 times of 100", row.low === null ? "not known" : `${signed(row.low)} to ${signed(row.high)}`], ["is", row.about]]]);
		return [el("div", { class: "labels" }, el("div", null, name(row.name))), bar];
	})));
};

// Icicles of both sides on one scale: by type of operator and node, coloured by the change.
opprobe.icicles = (place, sides, mix) => {
	const { el, format, tipOf, alternative } = opprobe;
	const trees = sides.map((side) => {
		const types = new Map();
		for (const row of side.rows)
			if (row.ns > 0)
				types.set(row.op, [...(types.get(row.op) || []), row]);
		return d3.hierarchy({ name: side.title, children: [...types].map(([op, rows]) => ({ name: op, children: rows })) }, (node) => node.children)
			.sum((node) => node.ns || 0).sort((a, b) => b.value - a.value);
	});
	const most = Math.max(...trees.map((tree) => tree.value), 1);

	trees.forEach((tree, i) => {
		const picture = el("div", { class: "picture icicle two", role: "group", "aria-label": sides[i].title });
		d3.partition().size([tree.value / most, 3])(tree);
		tree.each((node) => {
			const width = node.x1 - node.x0;
			if (width < 0.0015)
				return;
			const { name, ratio } = node.data;
			const about = [name || "(no name)", [["per run", format.ns(node.value)], ["of all", format.share(node.value / tree.value)],
				...(node.children ? [] : [["change", node.data.about]])]];
			const cell = el("button", { type: "button", class: "cell", "data-ns": node.value, "data-depth": node.depth,
				"aria-label": opprobe.clean(about[0] + ", " + about[1].map((pair) => pair.join(" ")).join(", ")),
				style: { left: 100 * node.x0 + "%", width: 100 * width + "%", top: node.depth * 100 / 3 + "%", height: 100 / 3 + "%",
					background: node.children ? "var(--soft)" : mix(ratio) } },
			width > 0.03 ? el("span", { class: "label" }, el("b", { text: about[0] }), el("span", { text: format.ns(node.value) })) : null);
			tipOf(cell, () => about);
			picture.append(cell);
		});
		place.append(el("h3", { text: sides[i].title }), picture);
	});
	place.append(alternative("Time per run of both", [{ title: "Side", text: true }, { title: "Type", text: true }, { title: "Node", text: true }, { title: "Time", unit: "ns" }],
		() => trees.flatMap((tree, i) => tree.leaves().map((leaf) => [sides[i].title, leaf.parent ? leaf.parent.data.name : "", leaf.data.name, leaf.value]))));
};
