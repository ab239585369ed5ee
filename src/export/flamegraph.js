// SPDX-License-Identifier: Apache-2.0
// Words, search and what the reader does.  flamegraph_model.js and flamegraph_paint.js
// come before it in the page.

// ---- what a frame is, in words -------------------------------------------------

const column = () => data.columns[state.column];

function whereOf(frame) {
	const words = [frame.image];
	if (frame.isInlined)
		words.push("inlined");
	if (frame.isKernel)
		words.push("kernel");
	if (!frame.isResolved)
		words.push("no symbol");
	if (frame.file)
		words.push(frame.line ? frame.file + ":" + frame.line : frame.file);
	return words.filter(Boolean).join(" · ");
}

function describe(node) {
	const frame = frames[tree.frame[node]], where = whereOf(frame);
	return `${frame.name}${where ? " (" + where + ")" : ""}: ${formatValue(tree.value[node], column().unit)}, ` +
		formatShare(tree.value[node], tree.value[0]);
}

function tipRow(table, label, value, whole, wholeName) {
	const row = table.insertRow(), head = document.createElement("th");
	head.textContent = label;
	head.scope = "row";
	row.append(head);
	row.insertCell().textContent = formatValue(value, column().unit);
	row.insertCell().textContent = formatShare(value, whole) + (wholeName || "");
}

function fillTip(node) {
	const frame = frames[tree.frame[node]];
	const name = document.createElement("div"), where = document.createElement("div");
	const table = document.createElement("table");
	name.className = "name";
	name.textContent = frame.name;
	where.className = "where";
	where.textContent = whereOf(frame);
	tipRow(table, state.isBottomUp ? "reached from here" : "with callees", tree.value[node], tree.value[0]);
	if (!state.isBottomUp || tree.self[node])
		tipRow(table, "own", tree.self[node], tree.value[0]);
	if (state.zoom && boxOfNode.get(node) >= layout.rowStart[layout.zoomRow])
		tipRow(table, "of the zoomed frame", tree.value[node], tree.value[state.zoom]);
	tip.replaceChildren(name, where, table);
}

function showTip(box, clientX, clientY) {
	tip.hidden = box < 0;
	if (box < 0)
		return;
	fillTip(layout.node[box]);
	const size = tip.getBoundingClientRect();
	const x = Math.min(clientX + 14, innerWidth - size.width - 6);
	const below = clientY + 18;
	const y = below + size.height > innerHeight ? clientY - size.height - 10 : below;
	tip.style.left = Math.max(x, 4) + "px";
	tip.style.top = Math.max(y, 4) + "px";
}

// ---- search ----------------------------------------------------------------------

// A test of frames, or null; a broken expression throws.
function makeTest(query) {
	const image = /^image:(.*)$/.exec(query), regex = /^\/(.*)\/$/.exec(query);
	if (image)
		return frame => frame.image === image[1];
	if (regex) {
		const compiled = new RegExp(regex[1], "i");
		return frame => compiled.test(frame.name) || compiled.test(frame.image);
	}
	const part = query.toLowerCase();
	return frame => frame.name.toLowerCase().includes(part) || frame.image.toLowerCase().includes(part);
}

// The weight of all stacks with a matching frame, each counted once.
function matchedWeight() {
	const value = topDownValue();
	const isBelow = new Uint8Array(data.frame.length);
	let sum = 0;
	for (let node = 1; node < data.frame.length; node++) {
		isBelow[node] = isBelow[sourceParent[node]] || matches[data.frame[node]];
		if (isBelow[node] && !isBelow[sourceParent[node]])
			sum += value[node];
	}
	return sum;
}

const topDownTrees = [];
const topDownValue = () => (topDownTrees[state.column] ||= topDownTree(state.column)).value;

function search() {
	let test = null, isWrong = false;
	try {
		test = state.query ? makeTest(state.query) : null;
	} catch {
		isWrong = true;
	}
	byId("search").classList.toggle("wrong", isWrong);
	matches = test && Uint8Array.from(frames, (f, i) => i > 0 && test(f) ? 1 : 0);
	const weight = matches ? matchedWeight() : 0;
	byId("matched").textContent = isWrong ? "not a regex" : matches ? formatShare(weight, column().total) : "";
	byId("matched").title = matches ? formatValue(weight, column().unit) + " in stacks that match" : "";
	document.documentElement.dataset.matched = weight;
	for (const button of byId("legend").querySelectorAll("button"))
		button.setAttribute("aria-pressed", state.query === "image:" + button.dataset.image);
}

function setQuery(query) {
	state.query = query;
	byId("search").value = query;
	search();
	saveState();
	paintSoon();
}

function nextMatch(step) {
	if (!matches)
		return;
	const n = layout.node.length, start = boxOfNode.get(state.selected) ?? (step > 0 ? -1 : n);
	for (let i = 1; i <= n; i++) {
		const box = (start + step * i + n * 2) % n;
		if (matches[tree.frame[layout.node[box]]]) {
			select(layout.node[box]);
			return;
		}
	}
}

// ---- acting ------------------------------------------------------------------------

function select(node) {
	state.selected = node;
	byId("details").textContent = node >= 0 ? describe(node) : "";
	const box = boxOfNode.get(node);
	if (box !== undefined) {
		const y = rowTop(rowOfBox(box));
		if (y < scroller.scrollTop)
			scroller.scrollTop = y - ROW;
		else if (y + ROW > scroller.scrollTop + scroller.clientHeight)
			scroller.scrollTop = y + 2 * ROW - scroller.clientHeight;
	}
	paintSoon();
}

function zoom(node) {
	state.zoom = node;
	byId("reset").disabled = node === 0;
	computeLayout();
	byId("space").style.height = contentHeight() + "px";
	const middle = rowTop(layout.zoomRow) - scroller.clientHeight / 2;
	scroller.scrollTop = state.isFlipped ? contentHeight() : Math.max(middle, 0);
	saveState();
	select(node);
}

// A neighbour of the selected box: -1 left, +1 right, in the same row.
function neighbour(step) {
	const box = boxOfNode.get(state.selected);
	if (box === undefined)
		return state.zoom;
	const row = rowOfBox(box), to = box + step;
	return to >= layout.rowStart[row] && to < layout.rowStart[row + 1] ? layout.node[to] : state.selected;
}

function move(key) {
	const outward = state.isFlipped ? "ArrowDown" : "ArrowUp";
	const at = boxOfNode.has(state.selected) ? state.selected : -1;
	if (at < 0)
		select(state.zoom);
	else if (key === "ArrowLeft" || key === "ArrowRight")
		select(neighbour(key === "ArrowLeft" ? -1 : 1));
	else if (key === outward)
		select(Math.max(tree.parent[at], 0));
	else
		select((tree.kids[at] || []).find(kid => boxOfNode.has(kid)) ?? at);
}

function showAbout() {
	const c = column();
	const parts = c ? [`${formatValue(c.total, c.unit)} of ${c.name}`, `${c.count.toLocaleString("en-US")} ${c.count === 1 ? "sample" : "samples"}`] : ["empty"];
	if (c && c.experiment)
		parts.push(c.experiment);
	byId("total").textContent = parts.join(" · ");
	document.documentElement.dataset.total = c ? c.total : 0;
}

function showQuality() {
	const [truncated, unresolved] = data.quality[state.column] || [0, 0];
	byId("quality").hidden = data.quality.length === 0;
	byId("quality").textContent = `Lost samples: ${data.lost ? data.lost.toLocaleString("en-US") : "none"} · ` +
		`stacks cut off: ${formatShare(truncated, column().total)} · ` +
		`without a symbol: ${formatShare(unresolved, column().total)}`;
}

function showPruned() {
	const small = data.frame.reduce((sum, frame, node) =>
		sum + (frames[frame].kind === KIND_SMALL ? data.self[state.column][node] : 0), 0);
	byId("pruned").hidden = data.prunedBelow === 0;
	byId("pruned").textContent = `Frames under ${+(data.prunedBelow * 100).toFixed(3)} % of the total are merged into ` +
		`[small frames] to keep this file small: ${formatShare(small, column().total)} of the profile.`;
}

function swatch(frame) {
	const c = document.createElement("canvas"), ratio = window.devicePixelRatio || 1;
	c.width = c.height = 12 * ratio;
	const pen = c.getContext("2d");
	pen.scale(ratio, ratio);
	pen.fillStyle = fillOf(frame);
	pen.fillRect(0, 0, 12, 12);
	if (frame.isKernel) {
		pen.fillStyle = theme.hatch;
		pen.fillRect(0, 0, 12, 12);
	}
	return c;
}

function showLegend() {
	byId("legend").replaceChildren(...weighImages().slice(0, LEGEND_MAX).map(([image, weight]) => {
		const item = document.createElement("li"), button = document.createElement("button");
		const share = document.createElement("span");
		share.className = "share";
		share.textContent = formatShare(weight, column().total);
		button.type = "button";
		button.dataset.image = image;
		button.title = "Highlight this image";
		button.append(swatch(frames.find(f => f.image === image && !f.isInlined) || frames.find(f => f.image === image)),
			      image || "[unknown]", share);
		button.addEventListener("click", () => setQuery(state.query === "image:" + image ? "" : "image:" + image));
		item.append(button);
		return item;
	}));
}

// Everything that depends on the event or the direction; zoomed along the path.
function showTree(path) {
	tree = state.isBottomUp ? bottomUpTree(state.column)
				: (topDownTrees[state.column] ||= topDownTree(state.column));
	byId("column").value = state.column;
	byId("top-down").setAttribute("aria-pressed", !state.isBottomUp);
	byId("bottom-up").setAttribute("aria-pressed", state.isBottomUp);
	byId("flip").setAttribute("aria-pressed", state.isFlipped);
	showAbout();
	showQuality();
	showPruned();
	showLegend();
	search();
	state.selected = -1;
	state.zoom = findPath(path);
	resize();
	zoom(state.zoom);
	select(-1);
}

function setColumn(index) {
	const path = pathOf(state.zoom);
	state.column = index;
	showTree(path);
}

function setBottomUp(isBottomUp) {
	state.isBottomUp = isBottomUp;
	showTree([]);
}

function setFlipped(isFlipped) {
	const path = pathOf(state.zoom);
	state.isFlipped = isFlipped;
	showTree(path);
}

function escape() {
	if (state.query)
		setQuery("");
	else
		zoom(0);
}

// ---- wiring --------------------------------------------------------------------------

const keys = {
	"/": () => byId("search").focus(),
	"?": () => byId("help").showModal(),
	Escape: escape,
	Enter: () => state.selected >= 0 && zoom(state.selected),
	n: () => nextMatch(1),
	p: () => nextMatch(-1),
	r: () => setBottomUp(!state.isBottomUp),
	f: () => setFlipped(!state.isFlipped),
	e: () => setColumn((state.column + 1) % data.columns.length),
	ArrowUp: () => move("ArrowUp"),
	ArrowDown: () => move("ArrowDown"),
	ArrowLeft: () => move("ArrowLeft"),
	ArrowRight: () => move("ArrowRight"),
};

function onKey(event) {
	const isTyping = event.target === byId("search");
	if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open)
		return;
	if (isTyping && event.key === "Enter") {
		nextMatch(1);
		canvas.focus();
	} else if (isTyping && event.key === "Escape") {
		setQuery("");
		canvas.focus();
	} else if (!isTyping && keys[event.key] &&
		   !(event.key === "Enter" && event.target.tagName === "BUTTON") &&
		   event.target.tagName !== "SELECT") {
		keys[event.key]();
	} else {
		return;
	}
	event.preventDefault();
}

function wire() {
	const point = event => {
		const rect = canvas.getBoundingClientRect();
		return boxAt(event.clientX - rect.left, event.clientY - rect.top);
	};
	canvas.addEventListener("mousemove", event => {
		const box = point(event);
		canvas.style.cursor = box < 0 ? "default" : "pointer";
		showTip(box, event.clientX, event.clientY);
		byId("details").textContent = box >= 0 ? describe(layout.node[box])
						       : state.selected >= 0 ? describe(state.selected) : "";
	});
	canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
	canvas.addEventListener("click", event => {
		const box = point(event);
		if (box >= 0)
			zoom(layout.node[box]);
	});
	scroller.addEventListener("scroll", () => { tip.hidden = true; paintSoon(); });
	byId("search").addEventListener("input", event => setQuery(event.target.value));
	byId("column").addEventListener("change", event => setColumn(Number(event.target.value)));
	byId("top-down").addEventListener("click", () => setBottomUp(false));
	byId("bottom-up").addEventListener("click", () => setBottomUp(true));
	byId("flip").addEventListener("click", () => setFlipped(!state.isFlipped));
	byId("reset").addEventListener("click", () => zoom(0));
	byId("help-button").addEventListener("click", () => byId("help").showModal());
	document.addEventListener("keydown", onKey);
	addEventListener("resize", resize);
	addEventListener("hashchange", () => showTree(loadState()));
	isDark.addEventListener("change", () => { readTheme(); showLegend(); paint(); });
}

function main() {
	document.title = data.title + " – flame graph";
	byId("title").textContent = data.title;
	if (data.columns.length === 0) {
		byId("problem").textContent = "This profile holds no samples.";
		byId("problem").hidden = false;
		return;
	}
	data.columns.forEach((c, i) => byId("column").add(new Option(c.name, i)));
	byId("column").hidden = data.columns.length < 2;
	readTheme();
	assignColours();
	wire();
	const path = loadState();
	byId("search").value = state.query;
	showTree(path);
}

addEventListener("error", event => {
	byId("problem").textContent = "This page failed: " + event.message;
	byId("problem").hidden = false;
});
main();
document.documentElement.dataset.state = "ready";
