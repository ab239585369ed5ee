// SPDX-License-Identifier: Apache-2.0
// The data as trees, and what of them is shown.

// What the exporter wrote: see flamegraph.c.  A frame is
// [name, image, path, file, line, kind, flags], texts as indices into strings.
const data = JSON.parse(document.getElementById("data").textContent);
const KIND_KERNEL = 1, KIND_MODULE = 2, KIND_PSEUDO = 100, KIND_SMALL = 101;
const FLAG_INLINED = 1, FLAG_RESOLVED = 2;

const ROW = 19;			// height of a box with the gap below it, in px
const MIN_WIDTH = 0.35;		// boxes narrower than this are not drawn
const LEGEND_MAX = 12;

const byId = id => document.getElementById(id);
const canvas = byId("graph"), scroller = byId("scroller"), tip = byId("tip");
const brush = canvas.getContext("2d");

const frames = data.frames.map(([name, image, path, file, line, kind, flags]) => ({
	name: data.strings[name] || "[unnamed]",
	image: data.strings[image],
	path: data.strings[path],
	file: data.strings[file],
	line, kind,
	isInlined: (flags & FLAG_INLINED) !== 0,
	isResolved: (flags & FLAG_RESOLVED) !== 0,
	isKernel: kind === KIND_KERNEL || kind === KIND_MODULE,
}));

// ---- numbers as people read them -------------------------------------------

function scaled(value, units) {
	let i = 0;
	while (i + 1 < units.length && value >= units[i + 1][0])
		i++;
	const v = value / units[i][0];
	const digits = i === 0 ? 0 : v < 10 ? 2 : v < 100 ? 1 : 0;
	return v.toFixed(digits) + " " + units[i][1];
}

function formatValue(value, unit) {
	if (unit === "ns")
		return scaled(value, [[1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"]]);
	if (unit === "bytes")
		return scaled(value, [[1, "B"], [1024, "KB"], [1048576, "MB"], [1073741824, "GB"]]);
	const number = value.toLocaleString("en-US");
	return unit === "count" || !unit ? number : number + " " + unit;
}

function formatShare(part, whole) {
	const pct = whole > 0 ? 100 * part / whole : 0;
	return pct.toFixed(pct > 0 && pct < 0.1 ? 2 : 1) + " %";
}

// ---- trees ------------------------------------------------------------------
// A tree is {frame, parent, self, value, kids}, by node; node 0 is everything.

const sourceParent = (() => {
	const parent = new Int32Array(data.depth.length), path = [];
	data.depth.forEach((depth, node) => {
		path[depth] = node;
		parent[node] = depth ? path[depth - 1] : -1;
	});
	return parent;
})();

// Heaviest first, what was merged last; equal ones by name, so that the picture is
// the same every time.
function sortKids(tree) {
	const order = (a, b) =>
		(frames[tree.frame[a]].kind === KIND_SMALL) - (frames[tree.frame[b]].kind === KIND_SMALL) ||
		tree.value[b] - tree.value[a] ||
		(frames[tree.frame[a]].name < frames[tree.frame[b]].name ? -1 : 1);
	tree.kids = tree.frame.length ? Array.from({ length: tree.frame.length }) : [];
	for (let node = 1; node < tree.frame.length; node++)
		if (tree.value[node] > 0)
			(tree.kids[tree.parent[node]] ||= []).push(node);
	for (const kids of tree.kids)
		if (kids && kids.length > 1)
			kids.sort(order);
	return tree;
}

function topDownTree(column) {
	const self = data.self[column], value = Float64Array.from(self);
	for (let node = value.length - 1; node > 0; node--)
		value[sourceParent[node]] += value[node];
	return sortKids({ frame: data.frame, parent: sourceParent, self, value });
}

// Every place with weight of its own, and from there its callers.
function bottomUpTree(column) {
	const tree = { frame: [0], parent: [-1], self: [0], value: [0] };
	const childOf = new Map();
	const child = (parent, frame) => {
		const key = parent * frames.length + frame;
		let node = childOf.get(key);
		if (node === undefined) {
			node = tree.frame.length;
			childOf.set(key, node);
			tree.frame.push(frame);
			tree.parent.push(parent);
			tree.self.push(0);
			tree.value.push(0);
		}
		return node;
	};
	data.self[column].forEach((weight, source) => {
		if (!weight)
			return;
		tree.value[0] += weight;
		let node = 0;
		for (let at = source; at > 0; at = sourceParent[at]) {
			node = child(node, data.frame[at]);
			tree.value[node] += weight;
			if (at === source)
				tree.self[node] += weight;
		}
	});
	return sortKids(tree);
}

// ---- state, kept in the address so that a view can be linked and reloaded ----

const state = { column: 0, isBottomUp: false, isFlipped: false, query: "", zoom: 0, selected: -1 };
let tree = null;
let layout = { node: [], x: [], width: [], rowStart: [0], zoomRow: 0, rest: [] };
let matches = null;		// by frame: 1 when it matches the search; null: no search
let boxOfNode = new Map();	// nodes that are drawn

function pathOf(node) {
	const path = [];
	for (; node > 0; node = tree.parent[node])
		path.unshift(tree.frame[node]);
	return path;
}

function findPath(path) {
	let node = 0;
	for (const frame of path) {
		const next = (tree.kids[node] || []).find(kid => tree.frame[kid] === frame);
		if (next === undefined)
			break;
		node = next;
	}
	return node;
}

function saveState() {
	const words = new URLSearchParams();
	if (state.column)
		words.set("event", data.columns[state.column].name);
	if (state.isBottomUp)
		words.set("view", "bottom-up");
	if (state.isFlipped)
		words.set("flip", "1");
	if (state.query)
		words.set("search", state.query);
	if (state.zoom)
		words.set("zoom", pathOf(state.zoom).join("."));
	const hash = words.toString();
	try {
		history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
	} catch {
		// A page opened from disk may be denied this; it works without.
	}
}

function loadState() {
	const words = new URLSearchParams(location.hash.slice(1));
	const column = data.columns.findIndex(c => c.name === words.get("event"));
	state.column = Math.max(column, 0);
	state.isBottomUp = words.get("view") === "bottom-up";
	state.isFlipped = words.get("flip") === "1";
	state.query = words.get("search") || "";
	return (words.get("zoom") || "").split(".").filter(Boolean).map(Number);
}
