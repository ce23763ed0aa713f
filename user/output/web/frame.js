// SPDX-License-Identifier: GPL-2.0-only
// What the scripts of a page share: its data, elements, numbers, tooltips. Whatever a process
// called something becomes text, never markup: there is no innerHTML here, nor anywhere.
"use strict";

const opprobe = (() => {
	const data = (id) => JSON.parse(document.getElementById(id).textContent);

	// -- text ---------------------------------------------------------------------------

	// Controls, and what changes the direction of writing or has no width, as visible escapes.
	const odd = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb]/g;
	const clean = (text) => String(text).replace(odd,
		(c) => c < "\x80" ? "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0")
			: "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

	// Four digits and the unit that suits, as in the table.
	const digits = (value) => {
		const whole = Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
		return value.toFixed(whole);
	};
	const scaled = (value, step, units) => {
		let i = 0;
		while (i < units.length - 1 && Math.abs(value) >= step * 0.99995) {
			value /= step;
			i++;
		}
		return (i || !Number.isInteger(value) ? digits(value) : String(value)) + " " + units[i];
	};
	const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
	const format = {
		ns: (value) => known(value) ? scaled(value, 1000, ["ns", "µs", "ms", "s"]) : "-",
		count: (value) => known(value) ? Math.round(value).toLocaleString("en-US") : "-",
		bytes: (value) => known(value) ? scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]) : "-",
		percent: (value) => known(value) ? value.toFixed(2) + "%" : "-",
		share: (value) => !known(value) ? "-" : value > 0 && value < 0.005 ? "<1 %" : (100 * value).toFixed(0) + " %",
		rate: (value) => known(value) ? digits(value) : "-",
		text: (value) => value === null || value === undefined ? "-" : clean(value),
		times: (value) => known(value) ? value.toFixed(value < 10 ? 2 : 0) + " ×" : "-",
	};

	// -- elements ---------------------------------------------------------------------------

	const fill = (element, attributes, children) => {
		for (const [key, value] of Object.entries(attributes || {})) {
			if (value === undefined || value === null || value === false)
				continue;
			if (key === "style")
				for (const [property, set] of Object.entries(value))
					element.style.setProperty(property, set);
			else if (key.startsWith("on"))
				element.addEventListener(key.slice(2), value);
			else if (key === "text")
				element.textContent = clean(value);
			else
				element.setAttribute(key, value === true ? "" : value);
		}
		element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
		return element;
	};
	const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
	const svg = (tag, attributes, ...children) =>
		fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
	const name = (text) => el("span", { class: "name", text });

	// -- parts of the page --------------------------------------------------------------------

	const main = document.getElementById("main"), nav = document.getElementById("nav");

	const section = (id, title, lead) => {
		const made = el("section", { id, "aria-labelledby": id + "-title" },
			el("h2", { id: id + "-title", text: title }),
			lead ? el("p", { class: "lead", text: lead }) : null);

		main.append(made);
		nav.append(el("a", { href: "#" + id, text: title }));
		return made;
	};

	// What a picture shows, for who cannot see it: columns of {title, text, unit}, rows of values.
	// It is made when it is opened, as it may be long.
	const alternative = (caption, columns, rows) => {
		const details = el("details", { class: "alternative" }, el("summary", { text: "The same as a table" }));
		const build = () => {
			if (!details.open || details.children.length > 1)
				return;
			details.append(el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
				el("table", null, el("caption", { class: "sr", text: caption }),
					el("thead", null, el("tr", null, columns.map((column) =>
						el("th", { scope: "col", class: column.text ? "text" : null, text: column.title })))),
					el("tbody", null, rows().map((row) => el("tr", null, row.map((value, i) =>
						el("td", { class: columns[i].text ? "text" : null, "data-value": value === null ? "" : clean(value),
							text: (format[columns[i].unit] || format.text)(value) }))))))));
		};

		details.addEventListener("toggle", build);
		return details;
	};

	// -- the tooltip ----------------------------------------------------------------------------

	const tip = el("div", { id: "tip", role: "status", hidden: true });
	document.body.append(tip);

	const hideTip = () => { tip.hidden = true; };
	// Of pairs of what it is and how much, beside the point (x, y) of the window.
	const showTip = (x, y, title, pairs) => {
		tip.replaceChildren(name(title), el("dl", null, pairs.map(([key, value]) =>
			[el("dt", { text: key }), el("dd", { text: value })])));
		tip.hidden = false;
		const box = tip.getBoundingClientRect();
		const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
		const top = y + 14 + box.height > innerHeight ? y - 14 - box.height : y + 14;
		tip.style.left = Math.max(4, Math.min(left, innerWidth - box.width - 4)) + "px";
		tip.style.top = Math.max(4, top) + "px";
	};
	// Of an element: when it is pointed at, and when it has the focus.
	const tipOf = (element, make) => {
		const at = (event) => showTip(event.clientX, event.clientY, ...make());
		element.addEventListener("mousemove", at);
		element.addEventListener("mouseleave", hideTip);
		element.addEventListener("focus", () => {
			const box = element.getBoundingClientRect();
			if (element.matches(":focus-visible"))
				showTip(box.left + Math.min(box.width / 2, 60), box.bottom - 8, ...make());
		});
		element.addEventListener("blur", hideTip);
	};
	addEventListener("scroll", hideTip, { passive: true });
	addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

	// -- light and dark ----------------------------------------------------------------------------

	const dark = matchMedia("(prefers-color-scheme: dark)");
	const painters = [];
	const root = document.documentElement;
	let wanted = null; // by the user of the page

	const colour = (variable) => getComputedStyle(root).getPropertyValue("--" + variable).trim();
	// Call @paint now, when colours change, and when @element has another width.
	const painted = (element, paint) => {
		let width = element.clientWidth;
		painters.push(paint);
		paint();
		new ResizeObserver(() => {
			if (element.clientWidth === width)
				return;
			width = element.clientWidth;
			paint();
		}).observe(element);
	};
	const toggle = el("button", { type: "button", id: "theme" });
	const useTheme = () => {
		const theme = wanted || (dark.matches ? "dark" : "light");
		root.dataset.theme = theme;
		toggle.textContent = theme === "dark" ? "Light" : "Dark";
		toggle.setAttribute("aria-label", theme === "dark" ? "Use light colours" : "Use dark colours");
		for (const paint of painters)
			paint();
	};
	dark.addEventListener("change", () => { wanted = null; useTheme(); });
	toggle.addEventListener("click", () => {
		wanted = root.dataset.theme === "dark" ? "light" : "dark";
		useTheme();
	});
	useTheme();
	const title = document.querySelector("h1");
	const bar = el("div", { class: "bar" });
	title.before(bar);
	bar.append(title, toggle);
	title.title = title.textContent;

	// Which part is looked at.
	const watchNav = () => {
		const links = new Map([...nav.children].map((link) => [link.getAttribute("href").slice(1), link]));
		const here = new IntersectionObserver((entries) => {
			for (const entry of entries)
				if (entry.isIntersecting) {
					for (const link of links.values())
						link.classList.toggle("here", link === links.get(entry.target.id));
				}
		}, { rootMargin: "-15% 0px -75% 0px" });
		for (const id of links.keys())
			here.observe(document.getElementById(id));
	};

	// Move the focus among @elements, of which one is in the order of tabs.
	const rove = (container, elements, move) => {
		container.addEventListener("keydown", (event) => {
			const list = elements(), i = list.indexOf(document.activeElement);
			const next = i < 0 ? null : move(event.key, i, list);
			if (!next)
				return;
			event.preventDefault();
			list[i].tabIndex = -1;
			next.tabIndex = 0;
			next.focus();
		});
	};

	// A canvas of @height lines that is as wide as its place, ready to be drawn on.
	const prepare = (canvas, height) => {
		const ratio = devicePixelRatio || 1, width = canvas.parentElement.clientWidth;
		canvas.style.height = height + "px";
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		const context = canvas.getContext("2d");
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, width, height);
		return { context, width };
	};

	return { data, clean, format, known, el, svg, name, section, alternative, showTip, hideTip, tipOf,
		colour, painted, rove, prepare, watchNav };
})();
