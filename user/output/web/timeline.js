// SPDX-License-Identifier: GPL-2.0-only
// The slowest and the median run of a session, thread by thread, with what ran meanwhile.
"use strict";

opprobe.timeline = (section, details) => {
	const { el, format, alternative, clean, colour, painted, prepare } = opprobe;
	const { timelines, tracks, nodes } = details;
	const RUN = 0, PART = 2, ROW = 16, GAP = 6;
	const shown = timelines.filter((one) => one.lanes.length);

	if (!shown.length) {
		section.append(el("p", { class: "lead empty", text: details.lacks ?? "No run was seen from its start to its end." }));
		return;
	}
	// Colours go to the types of operators that take most.
	const times = new Map();
	for (const { lanes } of shown)
		for (const { slices } of lanes)
			for (const [kind, , , ns, node, own] of slices)
				if (kind !== RUN && own && node >= 0)
					times.set(nodes[node].op_type, (times.get(nodes[node].op_type) || 0) + ns);
	const ops = [...times].sort((a, b) => b[1] - a[1]).map(([op]) => op);
	const kindOf = (op) => `kind-${Math.min(ops.indexOf(op) < 0 ? 7 : ops.indexOf(op), 7)}`;

	const place = el("div");
	const titleOf = (slice) => slice.kind === RUN ? `run ${slice.node}` : (slice.node < 0 ? "unknown operator" : nodes[slice.node].name);

	// One run: its lanes, each of as many rows as operators nest in it, and a row for what other
	// threads worked for its operators, as far as that is known as a sum only.
	const draw = (timeline, span) => {
		let from = 0, to = span, here = null, drag = null;
		const lanes = timeline.lanes.map((lane) => {
			const slices = lane.slices.map(([kind, depth, start, ns, node, own, others]) => ({ kind, depth, start: start - timeline.start, ns, node, own, others }));
			const rows = Math.max(...slices.map((slice) => slice.depth)) + 1;
			return { tid: lane.tid, name: lane.name, slices, rows, others: slices.some((slice) => slice.others) };
		});
		lanes.sort((a, b) => b.slices.some((slice) => slice.own && slice.kind === RUN) - a.slices.some((slice) => slice.own && slice.kind === RUN));
		let height = 0;
		for (const lane of lanes) {
			lane.top = height;
			lane.height = (lane.rows + (lane.others ? 0.6 : 0)) * ROW;
			height += lane.height + GAP;
		}
		const list = lanes.flatMap((lane) => lane.slices.map((slice) => ({ ...slice, lane }))).sort((a, b) => a.start - b.start || a.depth - b.depth);
		const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": `${timeline.what} run, thread by thread: left and right arrows go from one operator to the next, plus and minus zoom, 0 shows all` });
		const told = el("p", { class: "sr", role: "status" });
		const start = el("span"), end = el("span");

		const box = (slice, width) => {
			const scale = width / (to - from);
			return { x: (slice.start - from) * scale, w: slice.ns * scale, y: slice.lane.top + slice.depth * ROW, h: ROW - 1 };
		};
		const paint = () => {
			const { context, width } = prepare(canvas, height);
			const text = colour("text"), card = colour("card"), soft = colour("soft"), gap = colour("gap-soft"), muted = colour("muted");
			context.font = "11px system-ui, sans-serif";
			context.textBaseline = "middle";
			for (const lane of lanes) {
				context.fillStyle = soft;
				context.fillRect(0, lane.top, width, lane.height);
			}
			for (const slice of list) {
				const { x, w, y, h } = box(slice, width);
				if (x + w < 0 || x > width)
					continue;
				const left = Math.max(x, 0), wide = Math.min(x + w, width) - left;
				const plain = slice.kind === RUN || !slice.own;
				context.globalAlpha = slice.own ? 1 : 0.55;
				context.fillStyle = plain ? gap : colour(kindOf(slice.node < 0 ? "" : nodes[slice.node].op_type));
				context.fillRect(left, y, Math.max(wide - (wide > 3 ? 0.5 : 0), 0.6), h);
				context.globalAlpha = 1;
				if (slice.kind === RUN && slice.own) {
					context.fillStyle = muted;
					context.fillRect(left, y + h - 2, Math.max(wide, 0.6), 2);
				}
				if (slice.others) {
					const parallel = Math.min(slice.others / (slice.ns || 1), 8) / 8;
					context.fillStyle = colour(kindOf(slice.node < 0 ? "" : nodes[slice.node].op_type));
					context.globalAlpha = 0.35 + 0.65 * parallel;
					context.fillRect(left, slice.lane.top + slice.lane.rows * ROW, Math.max(wide - 0.5, 0.6), ROW * 0.5);
					context.globalAlpha = 1;
				}
				if (wide > 34) {
					context.save();
					context.beginPath();
					context.rect(left, y, wide - 3, h);
					context.clip();
					context.fillStyle = plain ? text : (document.documentElement.dataset.theme === "dark" ? "#101216" : "#ffffff");
					if (!plain && ["kind-1", "kind-4"].includes(kindOf(slice.node < 0 ? "" : nodes[slice.node].op_type)))
						context.fillStyle = "#101216";
					context.fillText(clean(titleOf(slice)), left + 4, y + h / 2 + 0.5);
					context.restore();
				}
			}
			if (here) {
				const { x, w, y, h } = box(here, width);
				context.strokeStyle = text;
				context.lineWidth = 2;
				context.strokeRect(x, y, Math.max(w, 2), h);
			}
			if (drag) {
				context.fillStyle = colour("accent");
				context.globalAlpha = 0.2;
				context.fillRect(Math.min(drag.from, drag.to), 0, Math.abs(drag.to - drag.from), height);
				context.globalAlpha = 1;
			}
			context.fillStyle = card;
			start.textContent = format.ns(from);
			end.textContent = format.ns(to);
		};
		const describe = (slice) => {
			const pairs = [["from", format.ns(slice.start)], ["took", format.ns(slice.ns)], ["thread", `${slice.lane.name} (${slice.lane.tid})`]];
			if (slice.kind !== RUN && slice.node >= 0) {
				pairs.splice(2, 0, ["type", nodes[slice.node].op_type]);
				if (slice.kind !== PART && nodes[slice.node].p50_ns)
					pairs.splice(2, 0, ["its median", format.ns(nodes[slice.node].p50_ns)]);
			}
			if (slice.kind === PART)
				pairs.push(["part of", "an operator of another thread"]);
			if (slice.others)
				pairs.push(["other threads", `${format.ns(slice.others)} for it, ${(slice.others / (slice.ns || 1)).toFixed(1)} at work on average`]);
			if (!slice.own)
				pairs.push(["of", "another run, meanwhile"]);
			return [titleOf(slice), pairs];
		};
		const under = (event) => {
			const area = canvas.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
			const scale = (to - from) / area.width;
			return list.filter((slice) => {
				const top = slice.lane.top + slice.depth * ROW;
				return y >= top && y < top + ROW && slice.start - 1.5 * scale <= from + x * scale && slice.start + slice.ns + 1.5 * scale >= from + x * scale;
			}).at(-1);
		};
		const zoom = (a, b) => {
			const least = Math.max(span / 1e5, 50), wide = Math.max(b - a, least);
			from = Math.max(0, Math.min(a, span - wide));
			to = Math.min(span, from + wide);
			paint();
		};
		const around = (factor) => {
			const middle = here ? here.start + here.ns / 2 : (from + to) / 2, half = (to - from) * factor / 2;
			zoom(middle - half, middle + half);
		};
		canvas.addEventListener("pointerdown", (event) => {
			if (event.pointerType === "mouse")
				drag = { from: event.offsetX, to: event.offsetX };
		});
		addEventListener("pointerup", () => {
			if (!drag)
				return;
			const { from: a, to: b } = drag, width = canvas.clientWidth, wide = to - from;
			drag = null;
			if (Math.abs(a - b) > 4)
				zoom(from + Math.min(a, b) / width * wide, from + Math.max(a, b) / width * wide);
			else
				paint();
		});
		canvas.addEventListener("pointermove", (event) => {
			if (drag) {
				drag.to = event.offsetX;
				paint();
			}
			const slice = under(event);
			if (slice && !drag)
				opprobe.showTip(event.clientX, event.clientY, ...describe(slice));
			else
				opprobe.hideTip();
		});
		canvas.addEventListener("pointerleave", opprobe.hideTip);
		canvas.addEventListener("dblclick", () => zoom(0, span));
		canvas.addEventListener("blur", () => { here = null; opprobe.hideTip(); paint(); });
		canvas.addEventListener("keydown", (event) => {
			const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
			if (step) {
				here = list[Math.max(0, Math.min(list.length - 1, here ? list.indexOf(here) + step : 0))];
				if (here.start < from || here.start + here.ns > to)
					zoom(here.start - (to - from) / 4, here.start + (to - from) * 3 / 4);
				paint();
				const area = canvas.getBoundingClientRect(), { x, y, h } = box(here, area.width), [title, pairs] = describe(here);
				opprobe.showTip(area.left + Math.max(0, x), area.top + y + h, title, pairs);
				told.textContent = clean([title, ...pairs.map((pair) => pair.join(" "))].join(", "));
			} else if (event.key === "+" || event.key === "=") {
				around(0.5);
			} else if (event.key === "-") {
				around(2);
			} else if (event.key === "0") {
				zoom(0, span);
			} else {
				return;
			}
			event.preventDefault();
		});
		const button = (text, label, act) => el("button", { type: "button", text, "aria-label": label, onclick: act });
		place.append(el("div", { class: "timeline" },
			el("div", { class: "tools" }, el("h3", { text: `${timeline.what === "slowest" ? "Slowest" : "Median"} run: ${format.ns(timeline.ns)}` }),
				el("span", { class: "lead empty", text: `run ${timeline.run}, ${format.ns(timeline.start)} after the first` + (timeline.left_out ? `; ${format.count(timeline.left_out)} shorter slices are left out` : "") }),
				button("+", "Closer", () => around(0.5)), button("−", "Farther", () => around(2)), button("All", "Show all", () => zoom(0, span))),
			el("div", { class: "picture lanes" },
				el("div", null, lanes.map((lane) => el("div", { class: "lane", title: clean(`${lane.name} (${lane.tid})`), text: `${lane.name} ${lane.tid}`, style: { height: lane.height + GAP + "px" } }))),
				el("div", null, canvas), el("div", { class: "axis" }, start, end)), told,
			alternative(`${timeline.what} run, thread by thread`, [{ title: "Thread", text: true }, { title: "What", text: true }, { title: "Depth", unit: "count" }, { title: "Start", unit: "ns" }, { title: "Took", unit: "ns" }, { title: "Other threads", unit: "ns" }, { title: "Run", text: true }],
				() => list.map((slice) => [`${slice.lane.name} ${slice.lane.tid}`, titleOf(slice), slice.depth, slice.start, slice.ns, slice.others, slice.own ? "this one" : "another"]))));
		painted(canvas.parentElement, paint);
	};
	const choose = (track) => {
		const chosen = shown.filter((one) => one.track === track), span = Math.max(...chosen.map((one) => one.ns)) || 1;
		place.replaceChildren();
		for (const timeline of chosen)
			draw(timeline, span);
	};

	const with_ = [...new Set(shown.map((one) => one.track))];
	if (with_.length > 1)
		section.append(el("div", { class: "tools" }, el("label", null, "Session", el("select", { onchange: (event) => choose(Number(event.target.value)) },
			with_.map((track) => el("option", { value: track, text: tracks[track].title }))))));
	section.append(place, el("ul", { class: "legend" }, ops.slice(0, 7).map((op) => el("li", null, el("span", { class: "swatch", style: { background: `var(--${kindOf(op)})` } }), el("span", { text: op }))),
		ops.length > 7 ? el("li", null, el("span", { class: "swatch", style: { background: "var(--kind-7)" } }), "other types") : null,
		el("li", null, el("span", { class: "swatch", style: { background: "var(--gap-soft)" } }), "runs, and what is of other runs")));
	choose(with_[0]);
};
