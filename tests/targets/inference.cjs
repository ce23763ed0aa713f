// SPDX-License-Identifier: GPL-2.0-only
// What the node programs of the tests share: finding onnxruntime-node, the
// inputs of a model from a seed, a checksum of its outputs. ort_run.c makes
// the same inputs and the same checksum.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { createRequire } = require('node:module');

const ARRAYS = { float: Float32Array, int64: BigInt64Array, bool: Uint8Array };
const TYPES = { float: 'float32', int64: 'int64', bool: 'bool' };

// `directory` is what get-onnxruntime printed.
function loadRuntime(directory) {
	return createRequire(path.join(directory, 'node_modules', 'from-here.js'))('onnxruntime-node');
}

// The inputs that MODEL.inputs lists: [{name, type, dims, values}].
function describeInputs(model) {
	const text = fs.readFileSync(model.replace(/\.onnx$/, '.inputs'), 'utf8');
	return text.trim().split('\n').map((line) => {
		const [shape, values] = line.split(' = ');
		const [name, type, ...dims] = shape.trim().split(' ');
		return {
			name, type, dims: dims.map(Number),
			values: values && values.trim().split(' ').map(Number),
		};
	});
}

// Numbers in [-1, 1), the same ones for the same seed.
function fillFrom(array, seed) {
	let state = seed >>> 0;
	for (let i = 0; i < array.length; i++) {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		array[i] = (state >>> 8) / 8388608 - 1;
	}
	return array;
}

// One tensor of raw values per input; `change` may hold {NAME: {dims, values}}.
function makeInputs(inputs, seed, change = {}) {
	return inputs.map((input, at) => {
		const { name, type, dims, values } = { ...input, ...change[input.name] };
		const Kind = ARRAYS[type];
		const data = new Kind(dims.reduce((product, dim) => product * dim, 1));
		if (values)
			data.set(type === 'int64' ? values.map(BigInt) : values);
		else
			fillFrom(data, seed + at);
		return { name, type, dims, data };
	});
}

function makeFeeds(ort, tensors) {
	const feeds = {};
	for (const { name, type, dims, data } of tensors)
		feeds[name] = new ort.Tensor(TYPES[type], data, dims);
	return feeds;
}

// FNV-1a over the bytes of all outputs, in the session's order.
function checksum(session, outputs) {
	let hash = 0x811c9dc5;
	for (const name of session.outputNames) {
		const { data } = outputs[name];
		const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
		for (let i = 0; i < bytes.length; i++)
			hash = Math.imul(hash ^ bytes[i], 0x01000193) >>> 0;
	}
	return hash.toString(16).padStart(8, '0');
}

// Sessions are released when asked to from 1.1x on; before that only when
// the garbage collector finds them (run with --expose-gc).
async function releaseSession(session) {
	if (typeof session.release === 'function')
		await session.release();
}

module.exports = {
	ARRAYS, loadRuntime, describeInputs, makeInputs, makeFeeds, checksum, releaseSession,
};
