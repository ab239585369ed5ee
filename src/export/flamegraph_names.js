// SPDX-License-Identifier: Apache-2.0
// A long C++, Rust or Java name in a narrow box: what says least goes first.
"use strict";

const OPERATOR = /^operator\s?(?:->\*|<=>|<<=|>>=|->|<<|>>|<=|>=|<|>|\(\))/;

// The contents of brackets deeper than `depth`, replaced by an ellipsis.
function elide(name, open, close, depth) {
	let s = "", at = 0;
	for (let i = 0; i < name.length; i++) {
		const operator = name[i] === "o" && OPERATOR.exec(name.slice(i));
		if (operator) {
			s += at <= depth ? operator[0] : "";
			i += operator[0].length - 1;
			continue;
		}
		if (name[i] === close && at > 0 && name[i - 1] !== "-")
			at--;
		if (at <= depth)
			s += name[i];
		// "(anonymous namespace)::f": a scope is no parameter list.
		const isScope = open === "(" && at === 0 && (i === 0 || name[i - 1] === ":");
		if (name[i] === open && !isScope && at++ === depth && name[i + 1] !== close)
			s += "…";
	}
	return s;
}

// Where the scopes of a name end and the next begin: "::" outside of brackets.
function scopesOf(name) {
	const found = [];
	let depth = 0;
	for (let i = 0; i < name.length; i++) {
		if ("(<{".includes(name[i]))
			depth++;
		else if (")>}".includes(name[i]) && name[i - 1] !== "-")
			depth--;
		else if (depth === 0 && name.startsWith("::", i))
			found.push(i++);
	}
	return found;
}

// The innermost scopes that fit; at least the beginning of the function's own name.
function cutScopes(name, letters) {
	const scopes = scopesOf(name);
	const at = scopes.find(scope => name.length - scope < letters);
	if (at !== undefined)
		return "…" + name.slice(at);
	const own = scopes.length ? name.slice(scopes[scopes.length - 1] + 2) : name;
	return own.length <= letters ? own : own.slice(0, letters - 1) + "…";
}

// Parameters, template arguments from the innermost out, then outer scopes.
function shorten(name, letters) {
	if (name.length <= letters)
		return name;
	if (letters < 3)
		return "";
	let s = elide(name, "(", ")", 0);
	for (let depth = 2; depth >= 0 && s.length > letters; depth--)
		s = elide(s, "<", ">", depth);
	return s.length <= letters ? s : cutScopes(s, letters);
}
