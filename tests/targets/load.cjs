// SPDX-License-Identifier: GPL-2.0-only
// Sends requests to server.cjs and checks every answer.
//
//   node load.cjs --url URL --model NAME=PATH [--model ...] [--requests N]
//                 [--concurrency N] [--seeds N] [--until-eof]
//
// The requests go through a few different inputs per model. The first answer
// to each is what all later ones must equal, to the last bit. It stops
// after N requests, at SIGINT or SIGTERM, and with --until-eof when stdin is
// closed. "first answers known" is
// said on stderr when from there on every answer is compared. The last line
// on stdout is JSON: sent, equal, different, failed. The exit status is 0 if
// every request got an equal answer.
'use strict';

const http = require('node:http');
const { parseArgs } = require('node:util');
const { describeInputs, makeInputs } = require('./inference.cjs');

const OPTIONS = {
	url: { type: 'string' },
	model: { type: 'string', multiple: true },
	requests: { type: 'string', default: '1000' },
	concurrency: { type: 'string', default: '4' },
	seeds: { type: 'string', default: '3' },
	'until-eof': { type: 'boolean', default: false },
};

const agent = new http.Agent({ keepAlive: true });
const counts = { sent: 0, equal: 0, different: 0, failed: 0 };
let stopped = false;

function post(url, body) {
	return new Promise((resolve, reject) => {
		const request = http.request(url, { method: 'POST', agent, headers: {
			'content-type': 'application/json', 'content-length': body.length,
		} }, (response) => {
			const parts = [];
			response.on('data', (part) => parts.push(part));
			response.on('error', reject);
			response.on('end', () => resolve({
				status: response.statusCode, text: Buffer.concat(parts).toString(),
			}));
		});
		request.on('error', reject);
		request.end(body);
	});
}

// Every body that will be sent: each model with each seed.
function makeBodies(models, seeds) {
	return models.flatMap((argument) => {
		const [model, path] = argument.split('=');
		const inputs = describeInputs(path);
		return Array.from({ length: seeds }, (_, seed) => {
			const tensors = {};
			for (const { name, dims, data } of makeInputs(inputs, seed + 1))
				tensors[name] = { dims, data: Array.from(data, Number) };
			return Buffer.from(JSON.stringify({ model, inputs: tensors }));
		});
	});
}

async function ask(url, body) {
	counts.sent++;
	try {
		const { status, text } = await post(url, body);
		if (status === 200)
			return text;
		console.error(`load: answer ${status}: ${text.slice(0, 200)}`);
	} catch (error) {
		console.error(`load: ${error.message}`);
	}
	counts.failed++;
	return undefined;
}

function parseCommandLine() {
	try {
		const { values } = parseArgs({ options: OPTIONS });
		if (values.url && values.model)
			return values;
	} catch (error) {
		console.error(`load: ${error.message}`);
	}
	console.error('Usage: node load.cjs --url URL --model NAME=PATH [options]');
	process.exit(2);
}

async function main() {
	const values = parseCommandLine();
	const url = `${values.url}/infer`;
	const bodies = makeBodies(values.model, Number(values.seeds));
	const expected = [];
	for (const body of bodies)
		expected.push(await ask(url, body));
	counts.equal = expected.filter((text) => text !== undefined).length;
	console.error('load: first answers known');
	for (const signal of ['SIGINT', 'SIGTERM'])
		process.once(signal, () => { stopped = true; });
	if (values['until-eof'])
		process.stdin.on('end', () => { stopped = true; }).resume();
	const limit = Number(values.requests);
	const sender = async () => {
		while (!stopped && counts.sent < limit) {
			const at = counts.sent % bodies.length;
			const text = await ask(url, bodies[at]);
			if (text !== undefined)
				counts[text === expected[at] ? 'equal' : 'different']++;
		}
	};
	await Promise.all(Array.from({ length: Number(values.concurrency) }, sender));
	console.log(JSON.stringify(counts));
	process.exit(counts.equal === counts.sent ? 0 : 1);
}

main();
