// SPDX-License-Identifier: GPL-2.0-only
// Latencies of runs over time: each run, or of very many, stretches of time and those that stand
// out; and what took more than usual in one of them.
"use strict";

opprobe.runs = (section, details) => {
	const { el, format, alternative, colour, painted, name } = opprobe;
	const { tracks, nodes } = details;
	const all = details.runs.map(([run, track, start, ns, outlier, grown]) => ({ run, track, start, ns, outlier, grown }));
	const total = tracks.reduce((sum, track) => sum + track.runs, 0);
	const every = all.length === total; // else stretches, and those that stand out
	const points = every ? all : all.filter((run) => run.outlier);
	const outliers = tracks.reduce((sum, track) => sum + track.outliers, 0);
	let chosen = null, only = null, plot = null;

	if (!total) {
		section.append(el("p", { class: "lead", text: details.lacks ?? "No run was seen from its start to its end." }));
		return;
	}
	const kind = (track) => `kind-${Math.min(track, 7)}`;
	const seconds = (ns) => ns / 1e9;
	const inTrack = (track) => only === null || only === track;

	// -- the picture --------------------------------------------------------------------------

	const picture = el("div", { class: "picture runs", tabindex: 0, role: "img",
		"aria-label": "Latencies of runs over time: left and right arrows choose a run that stands out, or any" });

	const series = () => {
		const xs = new Set(points.filter((run) => inTrack(run.track)).map((run) => run.start));
		if (!every)
			tracks.forEach((track, i) => inTrack(i) && track.buckets.forEach(([k]) => xs.add((k + 0.5) * details.bucket_ns)));
		const x = [...xs].sort((a, b) => a - b), at = new Map(x.map((value, i) => [value, i]));
		const data = [x.map(seconds)], options = [{}], bands = [];
		const column = (pairs) => {
			const values = new Array(x.length).fill(every ? null : undefined);
			for (const [when, value] of pairs)
				values[at.get(when)] = value / 1e9;
			return values;
		};
		const dots = (list, variable, size, outlined) => {
			data.push(column(list.map((run) => [run.start, run.ns])).map((value) => value ?? null));
			options.push({ stroke: () => colour(variable), paths: () => null,
				points: { show: true, size, width: outlined ? 1.6 : 0, fill: () => outlined ? colour("card") : colour(variable), stroke: () => colour(variable) } });
		};
		tracks.forEach((track, i) => {
			if (!inTrack(i))
				return;
			if (every) {
				dots(all.filter((run) => run.track === i && !run.outlier), kind(i), all.length > 800 ? 3 : 4.5, false);
				return;
			}
			const line = (value, width) => {
				data.push(column(track.buckets.map((bucket) => [(bucket[0] + 0.5) * details.bucket_ns, value(bucket)])));
				options.push({ stroke: () => colour(kind(i)), width, points: { show: false }, spanGaps: true, alpha: width > 1 ? 1 : 0.45 });
			};
			line(([, , , max]) => max, 0.5);
			line(([, , min]) => min, 0.5);
			bands.push({ series: [data.length - 2, data.length - 1], fill: () => colour(kind(i)) + "33" });
			line(([, count, , , sum]) => sum / count, 1.6);
		});
		dots(points.filter((run) => run.outlier && inTrack(run.track)), "bad", 7, true);
		return { data, options, bands };
	};
	const axis = (unit) => ({ stroke: () => colour("muted"), grid: { stroke: () => colour("line"), width: 1 }, ticks: { stroke: () => colour("line"), width: 1 },
		font: "12px system-ui, sans-serif", values: (_, values) => values.map((value) => value === null ? "" : unit(value)) });
	const mark = (u) => {
		if (!chosen || !inTrack(chosen.track))
			return;
		const { ctx } = u, x = u.valToPos(seconds(chosen.start), "x", true), y = u.valToPos(chosen.ns / 1e9, "y", true);
		ctx.save();
		ctx.strokeStyle = colour("text");
		ctx.lineWidth = 2 * devicePixelRatio;
		ctx.beginPath();
		ctx.arc(x, y, 7 * devicePixelRatio, 0, 2 * Math.PI);
		ctx.stroke();
		ctx.restore();
	};
	const nearest = (left, top, far) => {
		let found = null, best = far;
		for (const run of points) {
			if (!inTrack(run.track))
				continue;
			const distance = Math.hypot(plot.valToPos(seconds(run.start), "x") - left, plot.valToPos(run.ns / 1e9, "y") - top);
			if (distance < best) {
				best = distance;
				found = run;
			}
		}
		return found;
	};
	const draw = () => {
		const { data, options, bands } = series();
		const heights = data.slice(1).flat().filter((value) => value > 0);
		const wide = heights.reduce((a, b) => Math.max(a, b), 0) / heights.reduce((a, b) => Math.min(a, b), Infinity) > 30;

		if (plot)
			plot.destroy();
		plot = new uPlot({
			width: picture.clientWidth, height: 330, legend: { show: false }, series: options, bands,
			cursor: { points: { show: false }, drag: { x: true, y: false } },
			scales: { x: { time: false }, y: wide ? { distr: 3 } : { range: (u, min, max) => [0, max * 1.06] } },
			axes: [{ ...axis((value) => format.ns(value * 1e9)), space: 90 }, { ...axis((value) => format.ns(value * 1e9)), size: 74 }],
			hooks: { draw: [mark] },
		}, data, picture);
	};
	const titleOf = (track) => tracks[track].title;
	const runName = (run) => `run ${run.run} of ${titleOf(run.track)}`;

	// uPlot keeps clicks to itself; one that ends a drag, which zooms, is none.
	let pressed = null;
	picture.addEventListener("pointerdown", (event) => { pressed = event.clientX; }, true);
	picture.addEventListener("click", (event) => {
		const box = plot.over.getBoundingClientRect();
		const dragged = pressed !== null && Math.abs(event.clientX - pressed) > 4;
		const run = dragged ? null : nearest(event.clientX - box.left, event.clientY - box.top, 24);
		if (run)
			choose(run);
	}, true);
	picture.addEventListener("mousemove", (event) => {
		const box = plot.over.getBoundingClientRect();
		const run = nearest(event.clientX - box.left, event.clientY - box.top, 12);
		if (run)
			opprobe.showTip(event.clientX, event.clientY, runName(run), [["took", format.ns(run.ns)], ["of the median", format.times(run.ns / tracks[run.track].p50_ns)], ["at", format.ns(run.start)]]);
		else
			opprobe.hideTip();
	});
	picture.addEventListener("mouseleave", opprobe.hideTip);
	picture.addEventListener("keydown", (event) => {
		const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		const list = points.filter((run) => inTrack(run.track) && (run.outlier || !outliers));
		if (!step || !list.length)
			return;
		event.preventDefault();
		const i = list.indexOf(chosen);
		choose(list[i < 0 ? (step > 0 ? 0 : list.length - 1) : Math.max(0, Math.min(list.length - 1, i + step))]);
	});

	// -- the run that is chosen ---------------------------------------------------------------------

	const panel = el("div", { class: "grown-panel", id: "grown", role: "status" });
	const slowest = el("ol");
	const grownName = (node) => node < 0 ? "between operators" : nodes[node].name;

	const drawPanel = () => {
		const run = chosen, track = tracks[run.track];
		panel.replaceChildren(el("h3", { text: runName(run) }),
			el("p", { class: "lead", text: `${format.ns(run.ns)}, ${format.times(run.ns / track.p50_ns)} the median of its session (${format.ns(track.p50_ns)}), ${format.ns(run.start)} after the first.` }));
		if (!run.grown) {
			panel.append(el("p", { class: "lead", text: "What its operators took was too much to be kept." }));
			return;
		}
		if (!run.grown.length) {
			panel.append(el("p", { class: "lead", text: "No operator took more than its median." }));
			return;
		}
		panel.append(el("div", { class: "scroll" }, el("table", { class: "grown" }, el("caption", { class: "sr", text: "Operators that grew most against their medians" }),
			el("thead", null, el("tr", null, ["Grew most", "More", "Took", "Usual"].map((text, i) => el("th", { scope: "col", class: i ? null : "text", text })))),
			el("tbody", null, run.grown.map(([node, ns, usual]) => el("tr", { "data-node": node },
				el("td", { class: "text" }, name(grownName(node))),
				el("td", { "data-value": ns - usual, text: "+" + format.ns(ns - usual) }),
				el("td", { "data-value": ns, text: format.ns(ns) }), el("td", { "data-value": usual, text: format.ns(usual) })))))));
	};
	const drawList = () => {
		const list = all.filter((run) => inTrack(run.track)).sort((a, b) => b.ns / tracks[b.track].p50_ns - a.ns / tracks[a.track].p50_ns).slice(0, 6);
		slowest.replaceChildren(...list.map((run) => el("li", null, el("button", { type: "button", "data-run": run.run, "aria-pressed": String(run === chosen), onclick: () => choose(run) },
			el("span", { text: runName(run), class: "name" }), el("span", { text: format.ns(run.ns) })))));
		return list[0];
	};
	const choose = (run) => {
		const here = document.activeElement && slowest.contains(document.activeElement);
		chosen = run;
		section.dataset.run = run.run;
		drawPanel();
		drawList();
		if (here)
			slowest.querySelector('[aria-pressed="true"]')?.focus();
		if (plot)
			plot.redraw();
	};

	// -- around it -----------------------------------------------------------------------------------

	if (tracks.length > 1)
		section.append(el("div", { class: "tools" }, el("label", null, "Session", el("select", { onchange: (event) => {
			only = event.target.value === "" ? null : Number(event.target.value);
			draw();
			choose(drawList());
		} }, el("option", { value: "", text: "all" }), tracks.map((track, i) => el("option", { value: i, text: track.title }))))));
	const legend = el("ul", { class: "legend" }, tracks.map((track, i) => el("li", null,
		el("span", { class: "swatch round", style: { background: `var(--${kind(i)})` } }), el("span", { text: `${track.title}: ${format.count(track.runs)} runs, median ${format.ns(track.p50_ns)}, p99 ${format.ns(track.p99_ns)}` }))),
	el("li", null, el("span", { class: "swatch round", style: { border: "2px solid var(--bad)" } }),
		el("span", { text: `${format.count(outliers)} stand out: longer than three of four runs of their session by thrice the distance between the quartiles` })));
	const kept = all.filter((run) => run.outlier).length;
	section.append(el("div", { class: "split" }, el("div", null, picture, legend,
		every ? null : el("p", { class: "lead", text: `Of ${format.count(total)} runs the page has the ${format.count(all.length)} longest one by one${kept < outliers ? `, of those that stand out ${format.count(kept)}` : ""}; the line is the average of each stretch of ${format.ns(details.bucket_ns)}, the band goes from the shortest to the longest.` })),
	el("div", { class: "panel" }, panel, el("h3", { text: "Longest, against the median of their session" }), slowest)),
	alternative("Latencies of runs", [{ title: "Run", unit: "count" }, { title: "Session", text: true }, { title: "Start", unit: "ns" }, { title: "Took", unit: "ns" }, { title: "Of the median", unit: "times" }, { title: "Stands out", text: true }],
		() => all.map((run) => [run.run, titleOf(run.track), run.start, run.ns, run.ns / tracks[run.track].p50_ns, run.outlier ? "yes" : ""])));
	choose(drawList());
	painted(picture, draw);
};
