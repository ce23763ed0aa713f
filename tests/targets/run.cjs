// SPDX-License-Identifier: GPL-2.0-only
// Usage: node --expose-gc run.cjs RUNTIME-DIRECTORY
//
// A process with ONNX Runtime that does what it is told: one JSON object per
// line on stdin, one JSON object per line on stdout in reply, so that a test
// knows exactly what ran after opprobe was attached. The requests:
//
//   {"do":"load", "model":PATH, "options":{...}, "replace":[OLD,NEW], "bytes":B}
//                    → {"session":ID}; options are onnxruntime-node's; OLD is
//                      replaced by NEW, of the same length, wherever it is; with
//                      B true the runtime gets the file's bytes, not its name
//   {"do":"run", "session":ID, "times":N, "seed":S, "change":{INPUT:{dims,values}},
//    "tag":TEXT}     → {"done":N, "failed":N, "sums":[...], "error":TEXT}
//   {"do":"concurrent", "sessions":[ID...], "each":M, "times":N, "seed":S}
//                    the same, N times M requests at once for each session
//   {"do":"end_profiling", "session":ID}, {"do":"release", "session":ID}
//   {"do":"usage"}   → {"minor_faults", "cpu_us", "threads"} of this process
//   {"do":"spawn", "times":N}
//                    another program N times, one after the other
//   {"do":"exit", "code":N}
//
// A request that cannot be done is answered by {"ok":false, "error":TEXT}.
'use strict';

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const readline = require('node:readline');
const {
	loadRuntime, describeInputs, makeInputs, makeFeeds, checksum, releaseSession,
} = require('./inference.cjs');

// Loaded by the first "load": until then the process has no ONNX Runtime.
let ort;
const sessions = new Map();
let lastId = -1;

// A copy of the model with other text, in a file: old releases (1.14 is one)
// ignore the options of a session that is made from bytes.
function changedModel(file, replace) {
	const bytes = fs.readFileSync(file);
	const [from, to] = replace.map((text) => Buffer.from(text));
	if (from.length !== to.length)
		throw new Error('"replace" needs two texts of the same length');
	for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1))
		to.copy(bytes, at);
	const changed = path.join(os.tmpdir(), `changed-${process.pid}.onnx`);
	fs.writeFileSync(changed, bytes);
	return changed;
}

async function load({ model, options, replace, bytes }) {
	ort = ort || loadRuntime(process.argv[2]);
	const file = replace ? changedModel(model, replace) : model;
	const session = await ort.InferenceSession.create(bytes ? fs.readFileSync(file) : file,
		options || {});
	if (replace)
		fs.unlinkSync(file);
	sessions.set(++lastId, { session, inputs: describeInputs(model) });
	return { session: lastId };
}

function find(id) {
	if (!sessions.has(id))
		throw new Error(`no session ${id}`);
	return sessions.get(id);
}

// Run `each` requests at once on every one of the sessions, `times` times.
async function run({ sessions: ids, each, times = 1, seed = 1, change, tag }) {
	const wanted = ids.map(find);
	const options = tag === undefined ? [] : [{ tag }];
	const sums = new Set();
	let done = 0, failed = 0, error;
	for (let i = 0; i < times; i++) {
		const requests = wanted.flatMap(({ session, inputs }) =>
			Array.from({ length: each }, async () => {
				const feeds = makeFeeds(ort, makeInputs(inputs, seed, change));
				try {
					sums.add(checksum(session, await session.run(feeds, ...options)));
				} catch (e) {
					failed++;
					error = e.message;
				}
				done++;
			}));
		await Promise.all(requests);
	}
	return { done, failed, sums: [...sums], error };
}

async function release(id) {
	await releaseSession(find(id).session);
	sessions.delete(id);
	// Finalizers run between tasks, after a collection.
	for (let i = 0; i < 3; i++) {
		global.gc && global.gc();
		await new Promise((resolve) => setImmediate(resolve));
	}
	return {};
}

function usage() {
	const used = process.resourceUsage();
	return {
		minor_faults: used.minorPageFault,
		cpu_us: used.userCPUTime + used.systemCPUTime,
		threads: fs.readdirSync('/proc/self/task').length,
	};
}

const ACTIONS = {
	load,
	run: (request) => run({ ...request, sessions: [request.session], each: 1 }),
	concurrent: run,
	release: ({ session }) => release(session),
	end_profiling: ({ session }) => {
		find(session).session.endProfiling();
		return {};
	},
	usage,
	spawn: ({ times }) => {
		for (let i = 0; i < times; i++)
			spawnSync('true');
		return {};
	},
	exit: ({ code }) => process.exit(code || 0),
};

async function answer(line) {
	try {
		const request = JSON.parse(line);
		if (!Object.hasOwn(ACTIONS, request.do))
			throw new Error(`cannot do ${request.do}`);
		return { ok: true, ...await ACTIONS[request.do](request) };
	} catch (e) {
		return { ok: false, error: e.message };
	}
}

async function main() {
	const say = (object) => fs.writeSync(1, JSON.stringify(object) + '\n');
	say({ ok: true, ready: process.pid });
	for await (const line of readline.createInterface({ input: process.stdin }))
		say(await answer(line));
}

main();
