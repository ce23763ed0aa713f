// SPDX-License-Identifier: GPL-2.0-only
// Operators over time: what each took in each stretch, in all or against its own average.
"use strict";

opprobe.heat = (section, details) => {
	const { el, format, alternative, clean, colour, painted, prepare } = opprobe;
	const { heat, nodes } = details;
	const ROW = 17;
	const rows = heat.rows.filter((row) => row.cells.length).map((row) => {
		const count = row.cells.reduce((sum, cell) => sum + cell[1], 0), ns = row.cells.reduce((sum, cell) => sum + cell[2], 0);
		return { title: row.node < 0 ? "other operators" : nodes[row.node].name, op: row.node < 0 ? "" : nodes[row.node].op_type,
			cells: new Map(row.cells.map(([column, n, sum]) => [column, { count: n, ns: sum }])), count, ns, usual: ns / count, other: row.node < 0 };
	});
	if (!rows.length) {
		section.append(el("p", { class: "lead", text: details.lacks ?? "No time of operators is known." }));
		return;
	}
	const used = Math.max(...rows.flatMap((row) => [...row.cells.keys()])) + 1;
	const MODES = [
		{ title: "time in all", value: (cell) => cell.ns },
		{ title: "against its own average", value: (cell, row) => Math.log2(cell.ns / cell.count / (row.usual || 1)) },
	];
	const most = Math.max(...rows.filter((row) => !row.other).concat(rows.length > 1 ? [] : rows).flatMap((row) => [...row.cells.values()].map((cell) => cell.ns)), 1);
	let mode = 0, here = null;

	const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": "Operators over time: arrow keys move, and what is there is told" });
	const told = el("p", { class: "sr", role: "status" });
	const legend = el("ul", { class: "legend" });

	// Between two colours of the theme, by a part of 0 to 1.
	const parse = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
	const mix = (from, to, part) => {
		const a = parse(from), b = parse(to), p = Math.max(0, Math.min(1, part));
		return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * p)).join(" ")})`;
	};
	const paint = () => {
		const { context, width } = prepare(canvas, rows.length * ROW);
		const even = colour("even"), accent = colour("accent"), cold = colour("cold"), warm = colour("warm");
		const wide = width / used;
		rows.forEach((row, y) => {
			for (const [x, cell] of row.cells) {
				const value = MODES[mode].value(cell, row);
				context.fillStyle = mode ? mix(even, value < 0 ? cold : warm, Math.abs(value) / 1.5)
					: mix(even, accent, Math.sqrt(value / most));
				context.fillRect(x * wide, y * ROW + 1, Math.ceil(wide - 0.25), ROW - 2);
			}
		});
		if (here) {
			context.strokeStyle = colour("text");
			context.lineWidth = 2;
			context.strokeRect(here.x * wide, here.y * ROW + 1, Math.max(wide, 3), ROW - 2);
		}
		const ramp = (colours) => el("span", { class: "ramp", style: { background: `linear-gradient(to right, ${colours})` } });
		legend.replaceChildren(...(mode
			? [el("li", null, "a third of the time", ramp("var(--cold), var(--even), var(--warm)"), "three times")]
			: [el("li", null, "none", ramp("var(--even), var(--accent)"), `${format.ns(most)} in one stretch of ${format.ns(heat.column_ns)}`)]));
	};
	const describe = ({ x, y }) => {
		const row = rows[y], cell = row.cells.get(x);
		const pairs = [["from", format.ns(x * heat.column_ns)]];
		if (row.op)
			pairs.push(["type", row.op]);
		if (!cell)
			return [row.title, [...pairs, ["executions", "none"]]];
		return [row.title, [...pairs, ["self time", format.ns(cell.ns)], ["executions", format.count(cell.count)],
			["each", format.ns(cell.ns / cell.count)], ["its average", format.ns(row.usual)]]];
	};
	const place = (event) => {
		const box = canvas.getBoundingClientRect();
		const x = Math.floor((event.clientX - box.left) / box.width * used), y = Math.floor((event.clientY - box.top) / ROW);
		return x >= 0 && x < used && y >= 0 && y < rows.length ? { x, y } : null;
	};
	canvas.addEventListener("mousemove", (event) => {
		const at = place(event);
		if (at)
			opprobe.showTip(event.clientX, event.clientY, ...describe(at));
	});
	canvas.addEventListener("mouseleave", opprobe.hideTip);
	canvas.addEventListener("blur", () => { here = null; opprobe.hideTip(); paint(); });
	canvas.addEventListener("keydown", (event) => {
		const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
		if (!steps)
			return;
		event.preventDefault();
		here = here ? { x: Math.max(0, Math.min(used - 1, here.x + steps[0])), y: Math.max(0, Math.min(rows.length - 1, here.y + steps[1])) } : { x: 0, y: 0 };
		paint();
		const box = canvas.getBoundingClientRect(), [title, pairs] = describe(here);
		opprobe.showTip(box.left + (here.x + 1) / used * box.width, box.top + (here.y + 1) * ROW, title, pairs);
		told.textContent = clean([title, ...pairs.map((pair) => pair.join(" "))].join(", "));
	});

	const buttons = MODES.map((one, i) => el("button", { type: "button", "aria-pressed": String(i === mode), text: one.title, onclick: () => {
		mode = i;
		buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === i)));
		paint();
	} }));
	section.append(el("div", { class: "tools" }, buttons), el("div", { class: "picture heat" },
		el("div", { class: "labels", "aria-hidden": "true" }, rows.map((row) => el("div", { class: "name", text: row.title, title: clean(row.title), style: { height: ROW + "px", "line-height": ROW + "px" } }))),
		el("div", null, canvas),
		el("div", { class: "axis" }, el("span", { text: "0 s" }), el("span", { text: format.ns(used * heat.column_ns) }))), legend, told,
	alternative("Operators over time", [{ title: "Node", text: true }, { title: "Type", text: true }, { title: "From", unit: "ns" }, { title: "Executions", unit: "count" }, { title: "Self time", unit: "ns" }],
		() => rows.flatMap((row) => [...row.cells].map(([x, cell]) => [row.title, row.op, x * heat.column_ns, cell.count, cell.ns]))));
	painted(canvas.parentElement, paint);
};
