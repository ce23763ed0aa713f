// SPDX-License-Identifier: GPL-2.0-only
// A table that is searched, sorted and grouped, with columns to choose from.
"use strict";

// columns: {key, title, unit, value(row), shown, sum(rows), text, order(value): what is sorted by};
// groups: {title, key(row)}, the first of which is of the rows themselves. total: {title,
// value(key)} of the last line.
opprobe.table = (place, { rows, columns, groups, total, label, sort }) => {
	const { el, clean, format } = opprobe;
	const STEP = 100; // rows that are made at once
	const state = { search: "", sort, down: true, group: 0, room: STEP };
	const shown = new Set(columns.filter((column) => column.shown).map((column) => column.key));
	const body = el("tbody"), head = el("tr"), foot = el("tr");
	const told = el("p", { class: "lead", role: "status" });
	const more = el("button", { type: "button", text: "Show more rows", hidden: true,
		onclick: () => { state.room += 5 * STEP; draw(); } });

	const visible = () => columns.filter((column) => shown.has(column.key));

	// Rows of a group as one: what columns say of them together.
	const grouped = (list) => {
		if (!state.group)
			return list;
		const of = new Map();
		for (const row of list) {
			const key = groups[state.group].key(row);
			if (!of.has(key))
				of.set(key, []);
			of.get(key).push(row);
		}
		return [...of].map(([key, members]) => ({ group: key, members }));
	};
	const valueOf = (column, row) => {
		if (!row.members)
			return column.value(row);
		if (column.key === "name")
			return row.group;
		return column.sum ? column.sum(row.members) : null;
	};
	const matching = () => {
		const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
		const texts = columns.filter((column) => column.text);
		return rows.filter((row) => {
			const text = texts.map((column) => clean(column.value(row) ?? "").toLowerCase()).join(" ");
			return words.every((word) => text.includes(word));
		});
	};
	const ordered = (list) => {
		const column = columns.find((one) => one.key === state.sort);
		if (!column)
			return list;
		const sign = state.down ? -1 : 1;
		const unknown = (value) => value === null || value === undefined;
		const orderOf = (value) => unknown(value) || !column.order ? value : column.order(value);
		return list.map((row) => [orderOf(valueOf(column, row)), row]).sort(([a], [b]) => {
			const x = unknown(a), y = unknown(b);
			if (x || y)
				return x - y; // what is not known comes last
			return sign * (typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : a - b);
		}).map(([, row]) => row);
	};

	const cell = (column, value, whole) => {
		const text = whole && (value === null || value === undefined) ? "" : (format[column.unit] || format.text)(value);
		const value_ = value === null || value === undefined ? "" : clean(value);
		return el("td", { class: column.text ? "text" : null, "data-key": column.key, "data-value": value_ },
			column.text ? el("span", { class: "name", text, title: text.length > 60 ? text : null })
				: [column.meter && value > 0 ? el("span", { class: "meter", "aria-hidden": "true" }, el("span", { style: { width: Math.min(100, 100 * value / column.meter) + "%" } })) : null, text]);
	};
	const drawHead = () => {
		head.replaceChildren(...visible().map((column) => el("th", {
			scope: "col", class: column.text ? "text" : null,
			"aria-sort": state.sort === column.key ? (state.down ? "descending" : "ascending") : null,
		}, el("button", { type: "button", text: column.title, title: column.about, onclick: () => {
			state.down = state.sort === column.key ? !state.down : !column.text;
			state.sort = column.key;
			draw();
			head.children[visible().indexOf(column)].firstChild.focus();
		} }))));
	};
	const draw = () => {
		const found = matching(), all = ordered(grouped(found));
		const list = all.slice(0, state.room);
		drawHead();
		body.replaceChildren(...list.map((row) => el("tr", null, visible().map((column) =>
			cell(column, valueOf(column, row))))));
		foot.replaceChildren(...(total && !state.search ? visible().map((column, i) =>
			cell({ ...column, meter: 0 }, i ? total.value(column.key) : total.title, true)) : []));
		more.hidden = all.length <= state.room;
		told.textContent = `${format.count(all.length)} ${state.group ? "groups of " + format.count(found.length) + " rows" : "rows"}` +
			(all.length > list.length ? `, of which ${format.count(list.length)} are shown` : "") +
			(found.length < rows.length ? `; ${format.count(rows.length - found.length)} do not match` : "");
	};

	const choices = el("details", null, el("summary", { text: "Columns" }),
		el("div", { class: "choices" }, columns.map((column) => el("label", null, el("input", {
			type: "checkbox", checked: shown.has(column.key), value: column.key, disabled: column.key === "name",
			onchange: (event) => {
				if (event.target.checked)
					shown.add(column.key);
				else
					shown.delete(column.key);
				draw();
			},
		}), column.title))));

	place.append(
		el("div", { class: "tools" },
			el("input", { type: "search", placeholder: "Search: words that name, type or model have", "aria-label": "Search in " + label,
				oninput: (event) => { state.search = event.target.value; state.room = STEP; draw(); } }),
			el("label", null, "Group by", el("select", { onchange: (event) => {
				state.group = Number(event.target.value);
				state.room = STEP;
				draw();
			} }, groups.map((group, i) => el("option", { value: i, text: group.title }))))),
		told,
		el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
			el("table", { class: "wide" }, el("caption", { class: "sr", text: label }),
				el("thead", null, head), body, el("tfoot", null, foot))),
		more, choices);
	draw();
};
