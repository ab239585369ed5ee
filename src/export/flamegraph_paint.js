// SPDX-License-Identifier: Apache-2.0
// Boxes: where they are, how they look.

// ---- layout: boxes row by row, each row from left to right -------------------

function computeLayout() {
	const width = scroller.clientWidth;
	const l = { node: [], x: [], width: [], rowStart: [0], zoomRow: 0, rest: [] };
	const add = (node, x, w) => {
		l.node.push(node);
		l.x.push(x);
		l.width.push(w);
	};
	for (const frame of ancestors(state.zoom)) {
		add(frame, 0, width);
		l.rowStart.push(l.node.length);
		l.zoomRow++;
	}
	add(state.zoom, 0, width);
	const scale = tree.value[state.zoom] > 0 ? width / tree.value[state.zoom] : 0;
	let from = l.rowStart[l.zoomRow];
	while (from < l.node.length) {
		const to = l.node.length;
		l.rowStart.push(to);
		for (let box = from; box < to; box++) {
			let x = l.x[box], rest = 0;
			for (const kid of tree.kids[l.node[box]] || []) {
				const w = tree.value[kid] * scale;
				if (w >= MIN_WIDTH)
					add(kid, x, w);
				else
					rest += w;
				x += w;
			}
			if (rest >= MIN_WIDTH)
				l.rest.push({ row: l.rowStart.length - 1, x: x - rest, width: rest });
		}
		from = to;
	}
	layout = l;
	boxOfNode = new Map(l.node.map((node, box) => [node, box]));
}

function ancestors(node) {
	const path = [];
	for (let at = tree.parent[node]; at >= 0; at = tree.parent[at])
		path.unshift(at);
	return path;
}

const rowCount = () => layout.rowStart.length - 1;
const contentHeight = () => Math.max(rowCount() * ROW + 2, scroller.clientHeight);
// The upper edge of a row in the content.
const rowTop = row => state.isFlipped ? contentHeight() - (row + 1) * ROW : row * ROW + 1;

function rowOfBox(box) {
	let low = 0, high = rowCount() - 1;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (layout.rowStart[middle] <= box)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

// The box at a point of the canvas, or -1.
function boxAt(x, y) {
	const content = y + scroller.scrollTop;
	const row = state.isFlipped ? Math.floor((contentHeight() - content) / ROW)
				    : Math.floor((content - 1) / ROW);
	if (row < 0 || row >= rowCount())
		return -1;
	let low = layout.rowStart[row], high = layout.rowStart[row + 1] - 1;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (layout.x[middle] <= x)
			low = middle;
		else
			high = middle - 1;
	}
	return x >= layout.x[low] && x < layout.x[low] + Math.max(layout.width[low], 1) ? low : -1;
}

// ---- colours: the hue tells the image, shape tells the rest -------------------

const HUES = [32, 205, 150, 275, 345, 62, 180, 310, 100, 235];
const theme = {};
const isDark = matchMedia("(prefers-color-scheme: dark)");
let imageStyle = new Map();	// image name -> {hue, saturation}

function readTheme() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ["text", "page", "match", "accent", "quiet"])
		theme[name] = style.getPropertyValue("--" + name).trim();
	theme.isDark = isDark.matches;
	theme.hatch = makeHatch();
}

function makeHatch() {
	const tile = document.createElement("canvas");
	tile.width = tile.height = 6;
	const pen = tile.getContext("2d");
	pen.strokeStyle = theme.isDark ? "rgba(255,255,255,0.16)" : "rgba(0,0,0,0.13)";
	pen.lineWidth = 1;
	pen.beginPath();
	for (const shift of [-6, 0, 6]) {
		pen.moveTo(shift - 1, 7);
		pen.lineTo(shift + 7, -1);
	}
	pen.stroke();
	return brush.createPattern(tile, "repeat");
}

function nameHash(name) {
	let hash = 0;
	for (let i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) | 0;
	return (hash >>> 0) % 7;
}

function fillOf(frame) {
	const style = imageStyle.get(frame.image) || { hue: 0, saturation: 0 };
	let lightness = (theme.isDark ? 25 : 76) + nameHash(frame.name);
	if (frame.isInlined)
		lightness += theme.isDark ? 8 : 6;
	const saturation = style.saturation * (theme.isDark ? 0.62 : 1);
	return `hsl(${style.hue} ${saturation}% ${lightness}%)`;
}

// Images with their own weight in this column, heaviest first.
function weighImages() {
	const weight = new Map();
	data.self[state.column].forEach((self, node) => {
		const frame = frames[data.frame[node]];
		if (frame.kind < KIND_PSEUDO)
			weight.set(frame.image, (weight.get(frame.image) || 0) + self);
	});
	return [...weight].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

// Colours are given once, by the first event, so that they stay when it changes.
function assignColours() {
	let next = 0;
	const kernel = new Set(frames.filter(f => f.isKernel).map(f => f.image));
	for (const [image] of weighImages())
		imageStyle.set(image, kernel.has(image) ? { hue: 215, saturation: 20 }
						    : { hue: HUES[next++ % HUES.length], saturation: 72 });
}

// ---- painting ----------------------------------------------------------------

const FONT = '12px ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';
let letterWidth = 7.2;

function paintMarks(frame, x, y, w, h, isMatch) {
	if (frame.isKernel) {
		brush.fillStyle = theme.hatch;
		brush.fillRect(x, y, w, h);
	}
	if (w > 8 && (frame.isInlined || !frame.isResolved)) {
		brush.strokeStyle = theme.quiet;
		brush.lineWidth = 1;
		brush.setLineDash(frame.isInlined ? [5, 3] : [1, 3]);
		brush.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
		brush.setLineDash([]);
	}
	if (isMatch) {
		brush.strokeStyle = theme.match;
		brush.lineWidth = Math.min(3, Math.max(1, w / 3));
		const inset = brush.lineWidth / 2;
		brush.strokeRect(x + inset, y + inset, Math.max(w - 2 * inset, 0.5), h - 2 * inset);
	}
}

function paintBox(box, y) {
	const node = layout.node[box], frame = frames[tree.frame[node]];
	const isMatch = matches !== null && matches[tree.frame[node]] === 1;
	const gap = layout.width[box] > 3 ? 1 : 0.2, least = isMatch ? 2 : 0.5;
	const x = layout.x[box], w = Math.max(layout.width[box] - gap, least);
	const isAncestor = box < layout.rowStart[layout.zoomRow];
	brush.globalAlpha = matches !== null && !isMatch ? 0.45 : isAncestor ? 0.6 : 1;
	brush.fillStyle = fillOf(frame);
	brush.fillRect(x, y, w, ROW - 1);
	paintMarks(frame, x, y, w, ROW - 1, isMatch);
	const letters = Math.floor((w - 8) / letterWidth);
	if (letters > 1) {
		brush.fillStyle = theme.text;
		brush.font = frame.isInlined ? "italic " + FONT : FONT;
		brush.globalAlpha = matches !== null && !isMatch ? 0.75 : 1;
		brush.fillText(shorten(frame.name, letters), x + 4, y + 13);
	}
	brush.globalAlpha = 1;
	if (node === state.selected) {
		brush.strokeStyle = theme.accent;
		brush.lineWidth = 2;
		brush.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), ROW - 3);
	}
}

// Boxes too narrow to draw, together: a faint strip, so that nothing seems missing.
function paintRest(top) {
	brush.globalAlpha = 0.25;
	brush.fillStyle = theme.quiet;
	for (const { row, x, width } of layout.rest)
		brush.fillRect(x, rowTop(row) - top, width, ROW - 1);
	brush.globalAlpha = 1;
}

function paint() {
	const width = scroller.clientWidth, height = scroller.clientHeight, top = scroller.scrollTop;
	const ratio = window.devicePixelRatio || 1;
	brush.setTransform(ratio, 0, 0, ratio, 0, 0);
	brush.clearRect(0, 0, width, height);
	paintRest(top);
	for (let row = 0; row < rowCount(); row++) {
		const y = rowTop(row) - top;
		if (y < -ROW || y > height)
			continue;
		for (let box = layout.rowStart[row]; box < layout.rowStart[row + 1]; box++)
			paintBox(box, y);
	}
}

let isPaintPending = false;
function paintSoon() {
	if (isPaintPending)
		return;
	isPaintPending = true;
	requestAnimationFrame(() => {
		isPaintPending = false;
		paint();
	});
}

function resize() {
	const ratio = window.devicePixelRatio || 1;
	const width = scroller.clientWidth, height = scroller.clientHeight;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	canvas.style.width = width + "px";
	canvas.style.height = height + "px";
	computeLayout();
	byId("space").style.height = contentHeight() + "px";
	brush.font = FONT;
	letterWidth = brush.measureText("M".repeat(20)).width / 20;
	paint();
}
