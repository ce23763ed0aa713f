// SPDX-License-Identifier: GPL-2.0-only
// The page of a comparison, drawn of its JSON ("diff", as opprobe diff --json prints it) and of
// the runs and facts of both recordings ("sides").
"use strict";

(() => {
	const { data, el, format, known, section, clean } = opprobe;
	const diff = data("diff"), sides = data("sides");
	const SIDES = [["before", "kind-0"], ["after", "kind-1"]];
	const BARS = 16;
	const valueOf = (of, what) => of.values.find((value) => value.what === what) || null;
	const medianOf = (value, side) => value && value[side] ? value[side].median : null;
	const whats = [...new Set(diff.models.flatMap((model) => model.runs.values.map((value) => value.what)))];
	const unitOf = (what) => ({ ns: "ns", bytes: "bytes" })[diff.models.flatMap((model) => model.runs.values).find((value) => value.what === what).unit] || "count";
	const percent = (ratio) => known(ratio) ? (ratio >= 10 ? `× ${ratio.toFixed(1)}` : `${ratio < 1 ? "" : "+"}${(100 * (ratio - 1)).toFixed(1)} %`) : "-";
	const signed = (value, unit) => !known(value) ? "-" : (value < 0 ? "-" : "+") + format[unit](Math.abs(value));

	// What a node became, beside its numbers.
	const shapes = (list) => list ? list.map((tensor) => Object.entries(tensor).map(([type, dims]) => `${type}[${dims.join("x")}]`).join("")).join(", ") : null;
	const otherInputs = ({ before, after }) => Boolean(before && after && before.inputs && after.inputs && JSON.stringify(before.inputs) !== JSON.stringify(after.inputs));
	const otherProvider = ({ before, after }) => Boolean(before && after && before.provider && after.provider && before.provider !== after.provider);
	const remark = (node) => !node.before ? "new" : !node.after ? "gone" : [
		node.before.op_type !== node.after.op_type ? `was ${node.before.op_type}` : "",
		otherProvider(node) ? `on ${node.after.provider}, was on ${node.before.provider}` : "",
		otherInputs(node) ? `inputs were ${shapes(node.before.inputs)}, are ${shapes(node.after.inputs)}` : "",
	].filter(Boolean).join("; ");
	const changeOf = (node, what) => {
		const value = valueOf(node, what);
		return !node.before ? medianOf(value, "after") : !node.after ? (known(medianOf(value, "before")) ? -medianOf(value, "before") : null) : value && known(value.change) ? value.change : null;
	};
	const sure = (node, what) => {
		const value = valueOf(node, what);
		return Boolean(!node.before || !node.after || (value && value.significant));
	};
	const titleOf = (model) => model.before === model.after ? model.before : `${model.before} → ${model.after}`;
	const rows = diff.models.flatMap((model) => [...model.nodes, ...(valueOf(model.between_operators, "time") ? [{ name: "between operators", gap: true, values: model.between_operators.values,
		before: { op_type: "" }, after: { op_type: "" } }] : [])].map((node) => ({ ...node, model: titleOf(model) })));

	// From cold (half as long, or gone) to warm (twice as long, or new).
	const mix = (ratio) => {
		if (ratio === null || Number.isNaN(ratio))
			return "var(--soft)";
		const share = Math.min(1, Math.abs(Math.log2(ratio || 0.01)));
		return `color-mix(in srgb, var(--${ratio > 1 ? "warm" : "cold"}) ${(70 * share).toFixed(0)}%, var(--even))`;
	};

	// -- runs ---------------------------------------------------------------------------------------

	const runs = section("runs", "Runs", "What each run took, before and after; a dashed line is the median. Points are over the time since each recording began.");
	const legend = el("ul", { class: "legend" }, SIDES.map(([side, kind]) => el("li", null, el("span", { class: "swatch", style: { background: `var(--${kind})` } }), side)));
	runs.append(legend);
	for (const model of diff.models) {
		const of = SIDES.map(([side, kind]) => {
			const titles = new Set(sides[side].sessions.filter((session) => session.title === model[side]).map((session) => session.session));
			return { title: side, kind, runs: sides[side].runs.filter(([, , session]) => titles.has(session)).map(([start, ns]) => [start, ns]) };
		});
		if (diff.models.length > 1)
			runs.append(el("h3", { text: titleOf(model) }));
		if (of.every((side) => side.runs.length)) {
			opprobe.spread(runs, of.map((side) => ({ ...side, values: side.runs.map(([, ns]) => ns) })));
			opprobe.overTime(runs, of);
		}
		runs.append(el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Per run, median" }, el("table", { class: "medians" },
			el("thead", null, el("tr", null, ["Per run, median", "before", "after", "change", "%", "95 times of 100"].map((text, i) => el("th", { scope: "col", class: i ? null : "text", text })))),
			el("tbody", null, model.runs.values.filter((value) => value.before && value.after).map((value) => el("tr", { "data-what": clean(value.what), "data-before": value.before.median, "data-after": value.after.median },
				[value.what, format[unitOf(value.what)](value.before.median), format[unitOf(value.what)](value.after.median), signed(value.change, unitOf(value.what)), percent(value.ratio),
					known(value.ratio_low) ? `${percent(value.ratio_low)} to ${percent(value.ratio_high)}` : "-"].map((text, i) => el("td", { class: i ? null : "text", text }))))))));
	}
	for (const [side] of SIDES)
		if (sides[side].every > 1)
			runs.append(el("p", { class: "lead", text: `Of the runs ${side}, every ${sides[side].every}th is drawn.` }));

	// -- what changed ---------------------------------------------------------------------------------

	const changed = rows.map((node) => {
		const value = valueOf(node, "time"), both = node.before && node.after;
		return { name: node.name, by: changeOf(node, "time"), low: both && value && known(value.change_low) ? value.change_low : null, high: both && value && known(value.change_high) ? value.change_high : null,
			about: [node.after ? node.after.op_type : node.before.op_type, remark(node), sure(node, "time") ? "" : "no change can be told"].filter(Boolean).join(", "), short: !node.before ? "new" : !node.after ? "gone" : "", told: sure(node, "time") };
	}).filter((row) => known(row.by) && row.told).sort((a, b) => Math.abs(b.by) - Math.abs(a.by));
	const change = section("changed", "What changed most", "Time per run, of nodes of which a change can be told: to the right slower, to the left faster. A line is the interval that holds the truth 95 times of 100.");
	if (changed.length)
		opprobe.bars(change, changed.slice(0, BARS));
	else
		change.append(el("p", { class: "lead empty", text: "Of no node can a change be told." }));
	if (changed.length > BARS)
		change.append(el("p", { class: "lead", text: `${format.count(changed.length - BARS)} more changed: see the table.` }));

	opprobe.icicles(section("time", "Where the time goes", "A typical run of each side, on one scale: by type of operator and node. Warm is slower than before, or new; cold is faster, or gone."),
		SIDES.map(([side]) => ({ title: side, rows: rows.filter((node) => node[side]).map((node) => {
			const value = valueOf(node, "time");
			return { name: node.name, op: node.gap ? "between operators" : node[side].op_type, ns: medianOf(value, side), ratio: !node.before ? Infinity : !node.after ? 0 : value && value.significant ? value.ratio : null,
				about: remark(node) || (value && value.significant ? percent(value.ratio) : "none can be told") };
		}) })), mix);

	// -- the table ---------------------------------------------------------------------------------------

	const several = diff.models.length > 1;
	const columns = [
		{ key: "name", title: "Name", unit: "text", text: true, shown: true, value: (node) => node.name },
		{ key: "op", title: "Op", unit: "text", text: true, shown: true, value: (node) => (node.after || node.before).op_type },
		{ key: "model", title: "Model", unit: "text", text: true, shown: several, value: (node) => node.model },
		{ key: "remark", title: "What became of it", unit: "text", text: true, shown: rows.some(remark), value: (node) => remark(node) || null },
	];
	for (const what of whats) {
		const shown = what === "time", unit = unitOf(what), title = shown ? "" : what + ": ";
		columns.push(
			{ key: what + ":before", title: title + "before", unit, shown, value: (node) => medianOf(valueOf(node, what), "before") },
			{ key: what + ":after", title: title + "after", unit, shown, value: (node) => medianOf(valueOf(node, what), "after") },
			{ key: what + ":change", title: title + "change", unit, shown: true, value: (node) => changeOf(node, what), order: Math.abs },
			{ key: what + ":percent", title: title + "%", unit: "percent", shown, value: (node) => { const value = valueOf(node, what); return value && known(value.ratio) ? 100 * (value.ratio - 1) : null; } },
			{ key: what + ":low", title: title + "at least", unit: "percent", shown, about: "The interval holds the truth 95 times of 100, of all nodes together", value: (node) => { const value = valueOf(node, what); return value && known(value.ratio_low) ? 100 * (value.ratio_low - 1) : null; } },
			{ key: what + ":high", title: title + "at most", unit: "percent", shown, value: (node) => { const value = valueOf(node, what); return value && known(value.ratio_high) ? 100 * (value.ratio_high - 1) : null; } },
			{ key: what + ":sure", title: title + "told", unit: "text", text: true, shown: false, value: (node) => sure(node, what) ? "changed" : "the same, as far as runs tell" });
	}
	opprobe.table(section("table", "Nodes", "Medians per run, without operators inside."), { rows, columns, label: "Nodes", sort: "time:change",
		groups: [{ title: "node", key: null }, { title: "op", key: (node) => (node.after || node.before).op_type }, { title: "model", key: (node) => node.model }] });

	// -- about ---------------------------------------------------------------------------------------------

	const about = section("about", "About", "");
	const pairs = (list) => el("dl", null, list.filter(([, value]) => value).map(([key, value]) => [el("dt", { text: key }), el("dd", { text: value })]));
	about.append(el("div", { class: "columns" }, SIDES.map(([side]) => {
		const of = sides[side];
		return el("div", null, el("h3", { text: side }), pairs([["Capture", of.path], ["Began", new Date((of.start_ns + of.realtime_offset_ns) / 1e6).toISOString()], ["Took", format.ns(of.duration_ns)],
			["End", of.complete ? "" : "is missing"], ["Process", `${of.command || ""} (${of.pid})`], ["Runtime", [of.runtime, of.version].filter(Boolean).join(" ")], ["Library", of.library], ["Build ID", of.build_id],
			["Host", of.host], ["CPU", of.cpu], ["CPUs", of.cpus ? String(of.cpus) : ""], ["Kernel", of.kernel]]));
	})));
	if (diff.models_gone + diff.models_new)
		about.append(el("p", { class: "lead", text: `${diff.models_gone} models of the first capture and ${diff.models_new} of the second have none to compare with.` }));
	opprobe.watchNav();
})();
