// SPDX-License-Identifier: GPL-2.0-only
// The page of a capture: what is drawn of its JSON ("report") and of what is beside it
// ("details", see page_write.c).
"use strict";

(() => {
	const { data, el, format, known, section, clean } = opprobe;
	const report = data("report"), details = data("details");
	const { operators } = report;
	// Why there may be no picture of single executions and runs.
	if (report.aggregated)
		details.lacks = "Executions and runs were added up as they ended (--aggregate): what single ones took is not known.";
	const counted = (row, event) => row.counters[event];
	const times = ["on-cpu", "ready", "blocked"];
	const eventOf = (what) => (report.events.find((event) => event.event === what) || {}).name;
	const [cpu, ready, blocked] = times.map(eventOf);
	const hasTimes = Boolean(cpu && ready && blocked);
	const titles = new Map(report.session_models.map((session) => [session.session, session.title]));
	const sessionOf = (row) => row.session === null ? "session not known" : titles.get(row.session) ?? `session ${row.session}`;

	const partsOf = (row, member) => {
		if (!hasTimes)
			return null;
		const [a, b, c] = [cpu, ready, blocked].map((event) => counted(row, event)[member]);
		return [a, b, c].every(known) ? { cpu: a, ready: b, blocked: c } : null;
	};
	const left = report.sum.rows - operators.length;
	const leftOut = left > 0 ? `${format.count(left)} more nodes are not in this page: --limit says how many are.` : "";

	// -- pictures ----------------------------------------------------------------------------------

	const gap = report.between_operators;
	opprobe.icicle(section("time", "Where the time goes", "By session, type of operator and node; each is as wide as its own time, without operators inside. The colours tell what all threads that worked for it did. " + leftOut), {
		rows: operators.map((row) => ({ name: row.name, op: row.op_type ?? "", session: sessionOf(row), ns: row.self_ns, parts: partsOf(row, "self") })),
		gap: gap && { ns: gap.total_ns, parts: partsOf(gap, "total") },
		counted: hasTimes,
	});
	opprobe.runs(section("runs", "Runs", "How long each run took, and when. Choose one to see what took more than usual."), details);
	opprobe.heat(section("heat", "Operators over time", "The nodes that take most, from the beginning of the recording to its end; times are without operators inside."), details);
	opprobe.roofline(section("roofline", "Roofline", "What operators compute per second, over what they compute per byte that they move, by their shapes; the larger, the more time."), {
		rows: operators.map((row) => ({ name: row.name, op: row.op_type ?? "", gflops: row.gflops, intensity: row.flop_per_byte, ns: row.total_ns })),
		roofs: roofsOf(report.machine),
		shapes: operators.some((row) => row.inputs || row.flops_counted),
	});

	// As opprobe doctor --roofs measured them, where it did.
	function roofsOf(machine) {
		const { all_cpus: all = {}, one_cpu: one = {} } = machine.roofs || {};
		const ceilings = [[all.gflops, "all CPUs"], [one.gflops, "one CPU"]].filter(([value]) => value > 0);
		const slopes = [["l1", "L1"], ["l2", "L2"], ["l3", "L3"], ["memory", "memory"]].map(([key, title]) =>
			[all[key + "_gb_per_s"], title]).filter(([value]) => value > 0);
		return ceilings.length ? { ceilings, slopes } : null;
	}

	// -- the table -----------------------------------------------------------------------------------

	const sum = (member) => (rows) => rows.reduce((all, row) => all === null || !known(row[member]) ? null : all + row[member], 0);
	const least = (member, pick) => (rows) => rows.map((row) => row[member]).filter(known).reduce((a, b) => a === null ? b : pick(a, b), null);
	const same = (member) => (rows) => rows.every((row) => member(row) === member(rows[0])) ? member(rows[0]) : null;
	const ended = (row) => row.count - row.threw;
	const column = (key, title, unit, member, more) => ({ key, title, unit, value: (row) => row[member] ?? null, ...more });
	const several = report.session_models.length > 1, processes = report.processes.length > 1;
	const shapesText = (value) => value ? value.map((tensor) => Object.entries(tensor).map(([type, dims]) => `${type}[${dims.join("x")}]`).join("")).join(", ") : null;
	const columns = [
		column("name", "Name", "text", "name", { text: true, shown: true }),
		column("op", "Op", "text", "op_type", { text: true, shown: true, sum: same((row) => row.op_type) }),
		{ key: "model", title: "Session", unit: "text", text: true, shown: several, value: sessionOf, sum: same(sessionOf) },
		column("provider", "Provider", "text", "provider", { text: true, sum: same((row) => row.provider) }),
		column("pid", "PID", "text", "pid", { shown: processes, sum: same((row) => row.pid) }),
		column("count", "Count", "count", "count", { shown: true, sum: sum("count") }),
		column("total", "Total", "ns", "total_ns", { shown: true, sum: sum("total_ns"), about: "With operators inside" }),
		column("self", "Self", "ns", "self_ns", { shown: operators.some((row) => known(row.self_ns) && row.self_ns !== row.total_ns), sum: sum("self_ns"), about: "Without operators inside" }),
		column("percent", "Percent", "percent", "percent", { shown: true, sum: sum("percent"), meter: Math.max(...operators.map((row) => row.percent || 0)) }),
		column("avg", "Avg", "ns", "avg_ns", { shown: true, sum: (rows) => { const n = rows.reduce((all, row) => all + ended(row), 0), ns = sum("total_ns")(rows); return n && ns !== null ? ns / n : null; } }),
		column("min", "Min", "ns", "min_ns", { sum: least("min_ns", Math.min) }),
		column("p50", "P50", "ns", "p50_ns"), column("p95", "P95", "ns", "p95_ns"), column("p99", "P99", "ns", "p99_ns", { shown: true }),
		column("max", "Max", "ns", "max_ns", { sum: least("max_ns", Math.max) }),
		column("busy", "Busy", "ns", "busy_ns", { sum: sum("busy_ns"), about: "Time of all threads that worked for it" }),
		column("others", "Other threads", "ns", "other_threads_ns", { sum: sum("other_threads_ns") }),
		column("threw", "Threw", "count", "threw", { sum: sum("threw") }),
		column("migrated", "Migrated", "count", "migrated", { sum: sum("migrated") }),
	];
	if (operators.some((row) => "gflops" in row))
		columns.push(column("gflops", "GFLOP/s", "rate", "gflops", { shown: true }), column("intensity", "FLOP/B", "rate", "flop_per_byte"),
			column("flops", "FLOP", "count", "flops", { sum: sum("flops") }), column("bytes", "Bytes", "bytes", "bytes", { sum: sum("bytes") }),
			{ key: "inputs", title: "Inputs", unit: "text", text: true, value: (row) => shapesText(row.inputs) }, { key: "outputs", title: "Outputs", unit: "text", text: true, value: (row) => shapesText(row.outputs) });
	if (operators.some((row) => "peak_bytes" in row))
		columns.push(column("peak", "Peak", "bytes", "peak_bytes", { sum: least("peak_bytes", Math.max) }));
	const unitOf = (event) => ({ ns: "ns", bytes: "bytes" })[event.unit] || "count";
	for (const event of report.events) {
		const value = (row) => counted(row, event.name).estimate ?? null;
		columns.push({ key: "event:" + event.name, title: event.name, unit: unitOf(event), shown: true, value, about: event.event,
			sum: (rows) => rows.map(value).reduce((all, one) => all === null || !known(one) ? null : all + one, 0) });
	}
	for (const metric of Object.keys(report.sum.metrics))
		columns.push({ key: "metric:" + metric, title: metric, unit: "rate", shown: true, value: (row) => row.metrics[metric] ?? null });
	const lineOf = (row) => Object.fromEntries(columns.map((one) => [one.key, one.value({ ...row, counters: row.counters, session: row.session ?? null })]));
	const sums = lineOf({ ...report.sum, name: "", op_type: null, inputs: null, outputs: null });
	const table = section("table", "Table", `${leftOut}A group has no percentiles: they cannot be added up.`);
	opprobe.table(table, { rows: operators, columns, label: "Operators", sort: "total",
		groups: [{ title: "node", key: null }, { title: "op", key: (row) => row.op_type ?? "" }, { title: "session", key: sessionOf }, { title: "provider", key: (row) => row.provider ?? "" },
			...(processes ? [{ title: "process", key: (row) => `PID ${row.pid}` }] : [])],
		total: { title: "Sum", value: (key) => ["model", "op", "provider", "pid", "min", "max", "avg"].includes(key) ? null : sums[key] ?? null } });

	if (report.gpu || report.kernels.length)
		gpus();

	// What GPUs did, by a profile that was joined; else what they were told to do.
	function gpus() {
		const text = (key, title, value, more) => ({ key, title, unit: "text", text: true, value, sum: same(value), ...more });
		const waits = { stream: "a stream", event: "an event", device: "the device", copy: "a copy" };
		const did = report.gpu, operatorOf = (row) => row.operator ?? "(in no operator)", three = (values) => values ? values.join(",") : null;
		const typeOf = (row) => row.op_type ?? "", nameOf = (row) => (did ? row.kernel : row.name ?? (row.handle ? `(${row.kind} ${row.handle})` : row.waits_for ? `(wait for ${waits[row.waits_for]})` : `(${row.kind})`)) ?? "(all)";
		const shared = [text("name", "Kernel", nameOf, { shown: true }), text("operator", "Operator", operatorOf, { shown: true }), text("op", "Op", typeOf, { shown: true })];
		const average = (member) => (rows) => { const all = sum(member)(rows), n = sum("count")(rows); return n && all !== null ? all / n : null; };
		const worked = [column("total", "GPU time", "ns", "total_ns", { shown: true, sum: sum("total_ns") }),
			column("busy", "Busy", "ns", "busy_ns", { shown: (did ?? []).some((row) => row.busy_ns !== row.total_ns), about: "What overlaps counted once" }), column("count", "Count", "count", "count", { shown: true, sum: sum("count") }),
			{ key: "avg", title: "Avg", unit: "ns", shown: true, value: (row) => row.total_ns / row.count, sum: average("total_ns") },
			column("min", "Min", "ns", "min_ns", { sum: least("min_ns", Math.min) }), column("max", "Max", "ns", "max_ns", { sum: least("max_ns", Math.max) }),
			{ key: "queued", title: "Queued", unit: "ns", shown: true, about: "From the call until it began", value: (row) => known(row.queued_ns) ? row.queued_ns / row.count : null, sum: average("queued_ns") },
			column("registers", "Registers", "count", "registers", { shown: true }), text("stream", "Stream", (row) => known(row.stream) ? String(row.stream) : null, { shown: true }), text("device", "Device", (row) => known(row.device) ? String(row.device) : null)];
		const told = [column("launches", "Count", "count", "launches", { shown: true, sum: sum("launches") }), column("copied", "Copied", "bytes", "copied_bytes", { shown: true, sum: sum("copied_bytes") }),
			text("grid", "Grid", (row) => three(row.grid), { shown: true }), text("block", "Block", (row) => three(row.block), { shown: true }), column("shared", "Shared memory", "bytes", "shared_bytes"),
			column("waited", "Waited", "ns", "waited_ns", { shown: report.kernels.some((row) => row.kind === "wait"), sum: sum("waited_ns") }), text("stream", "Stream", (row) => row.stream)];
		const { join } = report;
		const lead = did ? `GPUs worked ${format.ns(join.sum_ns)} for what is shown, ${format.ns(join.busy_ns)} with what overlapped counted once. ${join.profiler}: ${format.count(join.matched)} of ${format.count(join.launches)} launches found; ` +
			`${format.count(join.launches_without_work)} for which no GPU did anything; ${format.count(join.kernels_without_launch)} kernels and ${format.count(join.copies_without_launch)} copies without a launch.`
			: "What GPUs were told to do; how long it took, a profile of theirs tells (--join).";
		opprobe.table(section("gpus", "GPUs", lead), { rows: did ?? report.kernels, columns: [...shared, ...(did ? worked : told)], label: "What GPUs did", sort: did ? "total" : "launches",
			groups: [{ title: "kernel of an operator", key: null }, { title: "kernel", key: nameOf }, { title: "operator", key: operatorOf }, { title: "op", key: typeOf }, ...(did ? [{ title: "stream", key: (row) => `stream ${row.stream}` }] : [])] });
	}

	opprobe.timeline(section("timeline", "Timeline", "The slowest and the median run on one scale, as they were recorded. Drag to look closer; work of other threads is drawn as a bar below the operator that it was for."), details);

	// -- about -----------------------------------------------------------------------------------------

	const pairs = (list) => el("dl", null, list.filter(([, value]) => known(value) || (typeof value === "string" && value)).map(([key, value]) =>
		[el("dt", { text: key }), el("dd", { text: value })]));
	const block = (title, ...children) => el("div", null, el("h3", { text: title }), ...children);
	const grid = (titles_, rows) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": titles_.map((one) => one.title).join(", ") }, el("table", null,
		el("thead", null, el("tr", null, titles_.map((one) => el("th", { scope: "col", class: one.text ? "text" : null, text: one.title })))),
		el("tbody", null, rows.map((row) => el("tr", null, row.map((value, i) => el("td", { class: titles_[i].text ? "text" : null, text: (format[titles_[i].unit] || format.text)(value) })))))));
	const { machine, recording } = report;
	const cost = recording.cost, percent = (value) => (100 * value).toFixed(1) + " %";
	const about = section("about", "About", "");
	about.append(el("div", { class: "columns" },
		block("Machine", pairs([["Host", machine.host], ["CPU", machine.cpu], ["CPUs", machine.cpus], ["Architecture", machine.architecture], ["Kernel", machine.kernel]])),
		block("Recording", pairs([["Began", new Date((recording.start_ns + recording.realtime_offset_ns) / 1e6).toISOString()], ["Took", format.ns(recording.duration_ns)], ["Ended", recording.complete ? recording.reason : "its end is missing"],
			["Damage", recording.damage], ["Cut", recording.cut], ["Runs", format.count(report.runs)], ["Failed runs", report.runs_failed ? format.count(report.runs_failed) : null], ["Runs left by an exception", report.runs_threw ? format.count(report.runs_threw) : null],
			["Executions", format.count(report.executions)], ["Threads", format.count(report.threads)],
			["Pool threads", report.pool.threads ? `${report.pool.threads}, worked ${format.ns(report.pool.work_ns)}${known(report.pool.cpu_ns) ? ` of ${format.ns(report.pool.cpu_ns)} on a CPU` : ""}` : null],
			["Cost", known(cost.slower) ? `runs ${percent(cost.slower)} slower (${percent(cost.slower_low)} to ${percent(cost.slower_high)})` : "not known"],
			["Probes", known(recording.probe_own_ns) ? `${format.ns(recording.probe_own_ns)} per operator, ${format.ns(recording.probe_nested_ns)} around it; ${recording.compensated ? "subtracted" : "not subtracted"}` : "not measured"], ["opprobe", recording.opprobe_version]])),
		...report.processes.map((process) => block(report.processes.length > 1 ? `Process ${process.pid}` : "Process", pairs([["PID", String(process.pid)], ["Command", process.command], ["Runtime", [process.runtime, process.version].filter(Boolean).join(" ")], ["Library", process.library], ["Build ID", process.build_id]])))));
	about.append(block("Sessions", grid([{ title: "Session", text: true }, { title: "Path", text: true }, { title: "Graph", text: true }, { title: "Intra-op threads", unit: "count" }, { title: "Providers", text: true }],
		report.session_models.map((one) => [one.title, one.path, one.graph, one.intra_threads, one.providers ? one.providers.join(", ") : null]))));
	if (report.events.length)
		about.append(block("Events", grid([{ title: "Event", text: true }, { title: "Is", text: true }, { title: "All operators" }, { title: "Coverage", unit: "share" }, { title: "Took turns", text: true }],
			report.events.map((event) => {
				const of = counted(report.sum, event.name);
				return [event.name, event.event, format[unitOf(event)](of.estimate) + (known(of.interval95) && of.interval95 > 0 ? ` ± ${format[unitOf(event)](of.interval95)}` : ""), of.coverage, event.multiplexed ? "yes" : "no"];
			}))));
	const losses = Object.entries(report.losses).filter(([, n]) => n);
	about.append(block("Losses", losses.length
		? grid([{ title: "Lost", text: true }, { title: "How many", unit: "count" }], losses.map(([key, n]) => [key, n]))
		: el("p", { class: "lead empty", text: "Nothing was lost." })));
	if (report.notes.length)
		about.append(block("Notes", el("ul", null, report.notes.map((note) => el("li", { text: note })))));

	const source = document.getElementById("report").textContent.trim();
	const json = el("details", { id: "json" }, el("summary", { text: `The JSON of this page, as opprobe report --json prints it (${format.bytes(source.length)})` }));
	json.addEventListener("toggle", () => {
		if (json.children.length === 1)
			json.append(el("div", { class: "tools" }, el("button", { type: "button", text: "Save it", onclick: () => {
				const link = el("a", { href: URL.createObjectURL(new Blob([source], { type: "application/json" })), download: "report.json" });
				link.click();
				URL.revokeObjectURL(link.href);
			} })), el("pre", { tabindex: 0, text: "" }));
		json.querySelector("pre").textContent = source.split("\n").map(clean).join("\n");
	});
	about.append(json);
	opprobe.watchNav();
})();
