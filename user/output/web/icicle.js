// SPDX-License-Identifier: GPL-2.0-only
// Where the time goes: all, sessions, types of operators, nodes; each as wide as its self time.
"use strict";

// rows: {name, op, session (a title), ns, parts: {cpu, ready, blocked} in ns or null}; gap: ns of
// what lies between operators and its parts, or null.
opprobe.icicle = (section, { rows, gap, counted }) => {
	const { el, format, alternative, tipOf, rove } = opprobe;
	const KINDS = [["cpu", "on a CPU"], ["ready", "waiting for a CPU"], ["blocked", "blocked"]];
	const LEAST = 0.0012; // of the width, to be seen by itself
	const LEVELS = 4;
	const addParts = (a, b) => a && b ? Object.fromEntries(KINDS.map(([kind]) => [kind, a[kind] + b[kind]])) : null;

	// The tree: what has no time has no place.
	const tree = { name: "all operators", children: [] };
	const of = new Map();
	const child = (parent, key, name, level) => {
		const path = level + "\0" + key;
		if (!of.has(path)) {
			of.set(path, { name, children: [], level });
			parent.children.push(of.get(path));
		}
		return of.get(path);
	};
	for (const row of rows) {
		if (!(row.ns > 0))
			continue;
		const session = child(tree, row.session, row.session, 1);
		const op = child(session, row.session + "\0" + row.op, row.op, 2);
		op.children.push({ name: row.name, op: row.op, ns: row.ns, parts: row.parts, level: 3 });
	}
	if (gap && gap.ns > 0)
		tree.children.push({ name: "between operators", ns: gap.ns, parts: gap.parts, level: 1, gap: true });
	const root = d3.hierarchy(tree).sum((d) => d.ns || 0).sort((a, b) => Boolean(a.data.gap) - Boolean(b.data.gap) || b.value - a.value);
	root.eachAfter((node) => {
		node.data.parts = node.children
			? node.children.map((one) => one.data.parts).reduce(addParts)
			: node.data.parts;
	});
	if (!root.value) {
		section.append(el("p", { class: "lead", text: "No time of operators is known." }));
		return;
	}

	let top = root;
	const picture = el("div", { class: "picture icicle", role: "group",
		"aria-label": "Where the time goes: arrow keys move, Enter looks closer, Escape goes back" });
	const trail = el("div", { class: "tools" });

	const pairsOf = (node) => {
		const pairs = [["self time", format.ns(node.value)], ["of all", format.share(node.value / root.value)]];
		const parts = node.data.parts;
		const sum = parts ? parts.cpu + parts.ready + parts.blocked : 0;
		for (const [kind, title] of KINDS)
			if (sum)
				pairs.push([title, `${format.ns(parts[kind])}, ${format.share(parts[kind] / sum)}`]);
		if (node.data.op)
			pairs.push(["type", node.data.op]);
		return pairs;
	};
	const titleOf = (node) => node.data.name || "(no name)";
	const describe = (node) => [titleOf(node), ...pairsOf(node).map((pair) => pair.join(" "))].join(", ");

	const fillOf = (node) => {
		const parts = node.data.parts;
		const sum = parts ? parts.cpu + parts.ready + parts.blocked : 0;
		if (!sum)
			return [el("span", { class: "part " + (node.data.gap ? "gap" : "plain"), style: { left: "0", right: "0" } })];
		let at = 0;
		return KINDS.map(([kind]) => {
			const left = at, width = parts[kind] / sum;
			at += width;
			return width < 0.001 ? null : el("span", { class: "part " + kind,
				style: { left: 100 * left + "%", width: 100 * width + "%" } });
		});
	};
	const cells = new Map(); // elements of nodes
	const draw = () => {
		const hidden = new Map(); // of those that are too narrow: how many, and their time
		d3.partition().size([1, top.height + 1])(top);
		const left = Math.min(LEVELS - top.depth, top.height + 1), height = 100 / left;
		const focused = [...cells].find(([, cell]) => cell === document.activeElement);
		cells.clear();
		picture.replaceChildren();
		top.each((node) => {
			const width = node.x1 - node.x0;
			if (width < LEAST) {
				const told = hidden.get(node.depth) || { n: 0, width: 0 };
				hidden.set(node.depth, { n: told.n + 1, width: told.width + width });
				return;
			}
			const cell = el("button", { type: "button", class: "cell", tabindex: -1, "data-name": opprobe.clean(titleOf(node)),
				"data-level": node.depth, "data-ns": node.value, "aria-label": opprobe.clean(describe(node)),
				style: { left: 100 * node.x0 + "%", width: 100 * width + "%", top: (node.depth - top.depth) * height + "%", height: height + "%" },
				onclick: () => zoom(node.children ? node : node.parent) },
				fillOf(node),
				width > 0.02 ? el("span", { class: "label" }, el("b", { text: titleOf(node) }),
					el("span", { text: `${format.share(node.value / root.value)} · ${format.ns(node.value)}` })) : null);
			tipOf(cell, () => [titleOf(node), pairsOf(node)]);
			cells.set(node, cell);
			picture.append(cell);
		});
		const first = cells.get(top);
		first.tabIndex = 0;
		if (focused)
			first.focus();
		const narrow = [...hidden].map(([, told]) => told.n).reduce((a, b) => a + b, 0);
		trail.replaceChildren(...top.ancestors().reverse().map((node) => el("button", {
			type: "button", "aria-pressed": String(node === top), onclick: () => zoom(node), text: titleOf(node) })),
			el("span", { class: "lead empty", text: narrow ? `${format.count(narrow)} too narrow to be seen: click to look closer, or see the table` : "" }));
	};
	const zoom = (node) => {
		opprobe.hideTip();
		top = node || root;
		draw();
	};
	rove(picture, () => [...cells.values()], (key, i, list) => {
		const [node] = [...cells].find(([, cell]) => cell === list[i]);
		const beside = (step) => {
			const level = [...cells.keys()].filter((other) => other.depth === node.depth).sort((a, b) => a.x0 - b.x0);
			return cells.get(level[level.indexOf(node) + step]);
		};
		if (key === "ArrowDown")
			return node.children && node.children.map((one) => cells.get(one)).find(Boolean);
		if (key === "ArrowUp")
			return node !== top && cells.get(node.parent);
		if (key === "Escape" && top.parent)
			zoom(top.parent);
		return key === "ArrowRight" ? beside(1) : key === "ArrowLeft" ? beside(-1) : null;
	});

	section.append(trail, picture, el("ul", { class: "legend" }, counted
		? KINDS.map(([kind, title]) => el("li", null, el("span", { class: "swatch", style: { background: `var(--${kind})` } }), title))
		: el("li", { text: "Whether operators were on a CPU, waited or were blocked was not counted." })),
	alternative("Where the time goes", [{ title: "Session", text: true }, { title: "Type", text: true }, { title: "Node", text: true },
		{ title: "Self time", unit: "ns" }, { title: "Share", unit: "share" }, ...KINDS.map(([, title]) => ({ title, unit: "ns" }))],
	() => root.leaves().map((leaf) => [leaf.depth > 1 ? leaf.ancestors().at(-2).data.name : "", leaf.data.op || "", titleOf(leaf), leaf.value,
		leaf.value / root.value, ...KINDS.map(([kind]) => leaf.data.parts ? leaf.data.parts[kind] : null)])));
	draw();
};
