// SPDX-License-Identifier: GPL-2.0-only
// A browser that tests look at pages with. Usage: node browser.cjs DIRECTORY, which get-playwright
// printed. Each line of stdin is a request in JSON, each line of stdout its answer:
//
//	{"do": "open", "file": PATH, "width": N, "height": N, "scheme": "dark"}
//	{"do": "eval", "code": "() => ..."}    what the function returns in the page
//	{"do": "press", "keys": [...]}, {"do": "click", "at": SELECTOR, "x": N, "y": N},
//	{"do": "fill", "at": SELECTOR, "text": ...}, {"do": "select", "at": SELECTOR, "value": ...},
//	{"do": "shoot", "file": PATH}
//
// Each answer has what went wrong in the page, and what it asked for, since it was opened.
'use strict';

const path = require('node:path');
const readline = require('node:readline');
const { createRequire } = require('node:module');

const EXECUTABLE = process.env.CHROMIUM || '/usr/bin/chromium';
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
	'--disable-background-networking', '--disable-component-update', '--disable-sync'];

const { chromium } = createRequire(path.join(process.argv[2], 'node_modules', 'from-here.js'))('playwright-core');
let browser, context, page, seen;

async function open({ file, width = 1280, height = 900, scheme = 'light' }) {
	await context?.close();
	seen = { errors: [], requests: [] };
	context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, offline: true });
	page = await context.newPage();
	const { errors, requests } = seen;
	page.on('console', (message) => errors.push(`${message.type()}: ${message.text()}`));
	page.on('pageerror', (error) => errors.push(String(error.stack)));
	page.on('request', (request) => requests.push(request.url()));
	await page.addInitScript(() => {
		addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`));
	});
	const start = performance.now();
	await page.goto('file://' + file);
	return performance.now() - start;
}

const actions = {
	open,
	eval: ({ code }) => page.evaluate(`(${code})()`),
	press: async ({ keys }) => {
		for (const key of keys)
			await page.keyboard.press(key);
	},
	click: ({ at, x, y }) => page.click(at, x === undefined ? {} : { position: { x, y } }),
	fill: ({ at, text }) => page.fill(at, text),
	select: ({ at, value }) => page.selectOption(at, value),
	shoot: ({ file }) => page.screenshot({ path: file, fullPage: true }).then(() => null),
};

async function main() {
	browser = await chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
	process.stdout.write('{"ok": true}\n');
	for await (const line of readline.createInterface({ input: process.stdin })) {
		const request = JSON.parse(line);
		let answer;
		try {
			answer = { ok: true, value: (await actions[request.do](request)) ?? null };
		} catch (error) {
			answer = { ok: false, error: String(error.stack) };
		}
		process.stdout.write(JSON.stringify({ ...answer, ...seen }) + '\n');
	}
	await browser.close();
}

main();
