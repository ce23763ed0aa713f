// SPDX-License-Identifier: GPL-2.0-only
// The roofline: what operators computed per second over what they computed per byte that they
// moved, each as large as its time; below what the machine was measured to do at most.
"use strict";

// rows: {name, op, gflops, intensity, ns}; roofs: {ceilings: [[GFLOP/s, of what]], slopes: [[GB/s,
// from where]]}, of each the greatest first and the slowest memory last, or null.
opprobe.roofline = (section, { rows, roofs, shapes }) => {
	const { el, svg, format, alternative, clean, painted, rove, tipOf } = opprobe;
	const known = rows.filter((row) => row.gflops > 0 && row.intensity > 0 && row.ns > 0).sort((a, b) => b.ns - a.ns);
	const MOST = 300, HEIGHT = 340, BIG = 26;
	const drawn = known.slice(0, MOST);

	if (!known.length) {
		section.append(el("p", { class: "lead empty", text: shapes
			? "Of no operator it is known what it computes and moves."
			: "No shapes were recorded, by which it is known what operators compute and move: record with --shapes." }));
		return;
	}
	const total = known.reduce((sum, row) => sum + row.ns, 0), largest = drawn[0].ns;
	const ops = [...new Set(drawn.map((row) => row.op))];
	const kind = (op) => `var(--kind-${Math.min(ops.indexOf(op), 7)})`;
	const picture = el("div", { class: "picture roofline", role: "group", "aria-label": "Roofline: arrow keys move from one operator to the next, by their time" });

	const decades = (values) => [Math.floor(Math.log10(Math.min(...values)) - 0.15), Math.ceil(Math.log10(Math.max(...values)) + 0.15)];
	// Slopes end where the highest ceiling begins; ceilings begin at the steepest slope.
	const drawRoofs = (root, x, y, [left, right, low]) => {
		const line = (title, path, first) => root.append(svg("path", { class: first ? "roof" : "roof lower", d: path, "data-roof": title }));
		roofs.slopes.forEach(([slope, of], i) => {
			const from = Math.max(left, low / slope), to = roofs.ceilings[0][0] / slope;
			line(`${format.rate(slope)} GB/s`, `M${x(from)} ${y(from * slope)}L${x(to)} ${y(to * slope)}`, i === roofs.slopes.length - 1);
			const angle = Math.atan2(y(to * slope) - y(from * slope), x(to) - x(from)) * 180 / Math.PI, at = Math.sqrt(from * to);
			root.append(svg("text", { x: x(at), y: y(at * slope) - 5, "text-anchor": "middle", transform: `rotate(${angle} ${x(at)} ${y(at * slope)})`, text: `${of} ${format.rate(slope)} GB/s` }));
		});
		roofs.ceilings.forEach(([ceiling, of], i) => {
			const from = roofs.slopes.length ? ceiling / roofs.slopes[0][0] : left;
			line(`${format.rate(ceiling)} GFLOP/s`, `M${x(from)} ${y(ceiling)}L${x(right)} ${y(ceiling)}`, !i);
			root.append(svg("text", { x: x(right) - 4, y: y(ceiling) - 5, "text-anchor": "end", text: `${of} ${format.rate(ceiling)} GFLOP/s` }));
		});
	};
	const draw = () => {
		const width = picture.clientWidth, left = 62, bottom = 38, top = 12, right = 14;
		const [x0, x1] = decades(drawn.map((row) => row.intensity).concat(roofs ? roofs.slopes.map(([slope]) => roofs.ceilings[0][0] / slope) : []));
		const [y0, y1] = decades(drawn.map((row) => row.gflops).concat(roofs ? roofs.ceilings.map(([ceiling]) => ceiling) : []));
		const x = (value) => left + (Math.log10(value) - x0) / (x1 - x0) * (width - left - right);
		const y = (value) => HEIGHT - bottom - (Math.log10(value) - y0) / (y1 - y0) * (HEIGHT - bottom - top);
		const root = svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` });
		const power = (i) => i >= 0 && i < 4 ? String(10 ** i) : i < 0 && i > -4 ? (10 ** i).toFixed(-i) : `1e${i}`;
		for (let i = x0; i <= x1; i++)
			root.append(svg("line", { class: "grid", x1: x(10 ** i), x2: x(10 ** i), y1: top, y2: HEIGHT - bottom }),
				svg("text", { x: x(10 ** i), y: HEIGHT - bottom + 16, "text-anchor": "middle", text: power(i) }));
		for (let i = y0; i <= y1; i++)
			root.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(10 ** i), y2: y(10 ** i) }),
				svg("text", { x: left - 8, y: y(10 ** i) + 4, "text-anchor": "end", text: power(i) }));
		root.append(svg("text", { x: (left + width - right) / 2, y: HEIGHT - 5, "text-anchor": "middle", text: "FLOP per byte" }),
			svg("text", { x: 14, y: HEIGHT / 2 - 10, "text-anchor": "middle", transform: `rotate(-90 14 ${HEIGHT / 2 - 10})`, text: "GFLOP/s" }));
		if (roofs)
			drawRoofs(root, x, y, [10 ** x0, 10 ** x1, 10 ** y0]);
		drawn.forEach((row, i) => {
			const pairs = [["type", row.op], ["GFLOP/s", format.rate(row.gflops)], ["FLOP per byte", format.rate(row.intensity)], ["time", format.ns(row.ns)]];
			if (roofs && roofs.slopes.length)
				pairs.push(["of its roof", format.share(row.gflops / Math.min(roofs.ceilings[0][0], row.intensity * roofs.slopes.at(-1)[0]))]);
			const dot = svg("circle", { class: "dot", cx: x(row.intensity), cy: y(row.gflops), r: Math.max(2.5, BIG * Math.sqrt(row.ns / largest)), tabindex: i ? -1 : 0, role: "img",
				"data-name": clean(row.name), "data-gflops": row.gflops, "data-intensity": row.intensity, "data-ns": row.ns, "aria-label": clean([row.name, ...pairs.map((pair) => pair.join(" "))].join(", ")) });
			dot.style.fill = dot.style.stroke = kind(row.op);
			tipOf(dot, () => [row.name, pairs]);
			root.append(dot);
		});
		picture.replaceChildren(root);
	};
	rove(picture, () => [...picture.querySelectorAll(".dot")], (key, i, list) =>
		key === "ArrowRight" || key === "ArrowDown" ? list[i + 1] : key === "ArrowLeft" || key === "ArrowUp" ? list[i - 1] : null);
	section.append(picture, el("ul", { class: "legend" }, ops.slice(0, 7).map((op) => el("li", null, el("span", { class: "swatch round", style: { background: kind(op) } }), el("span", { text: op }))),
		ops.length > 7 ? el("li", null, el("span", { class: "swatch round", style: { background: "var(--kind-7)" } }), "others") : null),
	el("p", { class: "lead", text: (roofs ? "The lines are what this machine was measured to do at most. " : "What this machine can do at most is not known: opprobe doctor --roofs measures it. ") +
		(known.length > MOST ? `Of ${format.count(known.length)} operators the ${MOST} with most time are drawn. ` : "") + `Together they took ${format.ns(total)}.` }),
	alternative("Roofline", [{ title: "Node", text: true }, { title: "Type", text: true }, { title: "GFLOP/s", unit: "rate" }, { title: "FLOP per byte", unit: "rate" }, { title: "Time", unit: "ns" }],
		() => known.map((row) => [row.name, row.op, row.gflops, row.intensity, row.ns])));
	painted(picture, draw);
};
