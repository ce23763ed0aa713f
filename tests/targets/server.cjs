// SPDX-License-Identifier: GPL-2.0-only
// An inference server as people run it: HTTP, JSON, onnxruntime-node.
//
//   node server.cjs --runtime DIRECTORY --model NAME=PATH [--model ...] [options]
//
//   POST /infer   {"model":NAME, "inputs":{INPUT:{"dims":[...], "data":[...]}}}
//                 → {"model":NAME, "outputs":{OUTPUT:{"dims":[...], "data":[...]}}}
//   GET /healthz  → {"status":"ok"}
//   GET /stats    → requests, failures, latencies, memory
//
// Sessions run on the thread that calls them, so a server that uses several
// cores has --workers: each has sessions of its own and serves requests of
// the same port. Once it listens, a line of JSON says where.
'use strict';

const http = require('node:http');
const { parseArgs } = require('node:util');
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');
const { ARRAYS, loadRuntime, describeInputs, makeFeeds } = require('./inference.cjs');

const OPTIONS = {
	runtime: { type: 'string' },
	model: { type: 'string', multiple: true },
	port: { type: 'string', default: '0' },
	sessions: { type: 'string', default: '1' },
	workers: { type: 'string', default: '0' },
	'intra-op-threads': { type: 'string', default: '1' },
	parallel: { type: 'boolean', default: false },
	'no-optimisation': { type: 'boolean', default: false },
	profile: { type: 'string' },
	help: { type: 'boolean', short: 'h', default: false },
};
const BODY_LIMIT = 64 << 20;

class BadRequest extends Error {}

// -- inference: in the main thread, or in each worker --------------------

function sessionOptions(options, label) {
	const wanted = {
		intraOpNumThreads: Number(options['intra-op-threads']),
		executionMode: options.parallel ? 'parallel' : 'sequential',
		graphOptimizationLevel: options['no-optimisation'] ? 'disabled' : 'all',
	};
	if (options.profile) {
		wanted.enableProfiling = true;
		wanted.profileFilePrefix = `${options.profile}-${label}`;
	}
	return wanted;
}

// Load every model as often as --sessions says: {NAME: {sessions, inputs, next}}.
async function loadModels(ort, options, worker) {
	const models = {};
	for (const argument of options.model) {
		const [name, path] = argument.split('=');
		const sessions = [];
		for (let i = 0; i < Number(options.sessions); i++)
			sessions.push(await ort.InferenceSession.create(
				path, sessionOptions(options, `${name}-${worker}-${i}`)));
		models[name] = { sessions, inputs: describeInputs(path), next: 0 };
	}
	return models;
}

function tensorsFrom(model, inputs) {
	return model.inputs.map(({ name, type }) => {
		const given = inputs && inputs[name];
		if (!given || !Array.isArray(given.dims) || !Array.isArray(given.data))
			throw new BadRequest(`input ${name} is missing: it needs dims and data`);
		const count = given.dims.reduce((product, dim) => product * dim, 1);
		if (count !== given.data.length)
			throw new BadRequest(`input ${name} has ${given.data.length} values for ${count}`);
		const data = type === 'int64' ? given.data.map((value) => BigInt(value)) : given.data;
		return { name, type, dims: given.dims, data: ARRAYS[type].from(data) };
	});
}

async function infer(ort, models, { model: name, inputs }) {
	const model = Object.hasOwn(models, name) && models[name];
	if (!model)
		throw new BadRequest(`no model ${name}`);
	const feeds = makeFeeds(ort, tensorsFrom(model, inputs));
	const session = model.sessions[model.next++ % model.sessions.length];
	const results = await session.run(feeds);
	const outputs = {};
	for (const output of session.outputNames) {
		const { dims, data } = results[output];
		outputs[output] = { dims, data: Array.from(data, Number) };
	}
	return { model: name, outputs };
}

async function startInference(options, worker) {
	const ort = loadRuntime(options.runtime);
	const models = await loadModels(ort, options, worker);
	return {
		infer: (request) => infer(ort, models, request),
		finish() {
			if (options.profile)
				for (const { sessions } of Object.values(models))
					sessions.forEach((session) => session.endProfiling());
		},
	};
}

// -- workers --------------------------------------------------------------

async function serveParent() {
	const inference = await startInference(workerData.options, workerData.index);
	parentPort.on('message', async ({ id, request, finish }) => {
		if (finish) {
			inference.finish();
			parentPort.postMessage({ finished: true });
			return;
		}
		try {
			parentPort.postMessage({ id, result: await inference.infer(request) });
		} catch (error) {
			const bad = error instanceof BadRequest;
			parentPort.postMessage({ id, failure: error.message, bad });
		}
	});
	parentPort.postMessage({ ready: true });
}

// Resolves when the worker has loaded its models; has the methods of startInference.
function startWorker(options, index) {
	const worker = new Worker(__filename, { workerData: { options, index } });
	const waiting = new Map();
	let lastId = 0;
	return new Promise((resolve, reject) => {
		const handle = {
			infer: (request) => new Promise((done, failed) => {
				waiting.set(++lastId, { done, failed });
				worker.postMessage({ id: lastId, request });
			}),
			finish: () => new Promise((done) => {
				handle.finished = done;
				worker.postMessage({ finish: true });
			}),
		};
		worker.on('error', reject);
		worker.on('message', ({ ready, finished, id, result, failure, bad }) => {
			if (ready)
				return resolve(handle);
			if (finished)
				return handle.finished();
			const { done, failed } = waiting.get(id);
			waiting.delete(id);
			if (failure === undefined)
				done(result);
			else
				failed(bad ? new BadRequest(failure) : new Error(failure));
		});
	});
}

// -- HTTP -----------------------------------------------------------------

const stats = { requests: 0, failures: 0, busy: 0, milliseconds: 0, slowest: 0 };

function reply(response, status, object) {
	response.writeHead(status, { 'content-type': 'application/json' });
	response.end(JSON.stringify(object));
}

async function readBody(request) {
	const parts = [];
	let size = 0;
	for await (const part of request) {
		size += part.length;
		if (size > BODY_LIMIT)
			throw new BadRequest('the request is too large');
		parts.push(part);
	}
	try {
		return JSON.parse(Buffer.concat(parts).toString());
	} catch {
		throw new BadRequest('the request is not JSON');
	}
}

async function answerInfer(handlers, request, response) {
	const start = performance.now();
	stats.busy++;
	try {
		const body = await readBody(request);
		const handler = handlers[stats.requests++ % handlers.length];
		reply(response, 200, await handler.infer(body));
	} catch (error) {
		stats.failures++;
		reply(response, error instanceof BadRequest ? 400 : 500, { error: error.message });
	}
	const took = performance.now() - start;
	stats.busy--;
	stats.milliseconds += took;
	stats.slowest = Math.max(stats.slowest, took);
}

function answer(handlers, request, response) {
	const route = `${request.method} ${request.url}`;
	if (route === 'POST /infer')
		answerInfer(handlers, request, response);
	else if (route === 'GET /healthz')
		reply(response, 200, { status: 'ok' });
	else if (route === 'GET /stats')
		reply(response, 200, { ...stats, uptime: process.uptime(), ...process.memoryUsage() });
	else
		reply(response, 404, { error: 'not found' });
}

function parseCommandLine() {
	const usage = 'Usage: node server.cjs --runtime DIRECTORY --model NAME=PATH [options]';
	try {
		const { values } = parseArgs({ options: OPTIONS });
		if (values.help) {
			console.log(usage, '\nOptions: --' + Object.keys(OPTIONS).join(', --'));
			process.exit(0);
		}
		if (values.runtime && values.model)
			return values;
	} catch (error) {
		console.error(`server: ${error.message}`);
	}
	console.error(usage);
	process.exit(2);
}

async function main() {
	const options = parseCommandLine();
	const workers = Number(options.workers);
	const handlers = await Promise.all(workers
		? Array.from({ length: workers }, (_, index) => startWorker(options, index))
		: [startInference(options, 0)]);
	const server = http.createServer((request, response) => answer(handlers, request, response));
	server.listen(Number(options.port), '127.0.0.1', () => {
		const { port } = server.address();
		console.log(JSON.stringify({ ready: process.pid, port, url: `http://127.0.0.1:${port}` }));
	});
	const stop = async () => {
		await Promise.all(handlers.map((handler) => handler.finish()));
		process.exit(0);
	};
	process.once('SIGTERM', stop);
	process.once('SIGINT', stop);
}

(isMainThread ? main() : serveParent()).catch((error) => {
	console.error(`server: ${error.message}`);
	process.exit(1);
});
