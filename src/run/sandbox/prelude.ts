// JavaScript that runs inside QuickJS around user code. Parsing it is most of the cost of an evaluation (0.1 ms per
// kilobyte), so the pieces are small and each evaluation loads only those that it needs.

/**
 * The globals that user code keeps. Every other global, also of a later version of QuickJS, is removed before the code
 * runs.
 */
export const ALLOWED_GLOBALS: readonly string[] = [
  ..."undefined NaN Infinity globalThis Object Array String Number Boolean Symbol BigInt Math JSON RegExp".split(
    " ",
  ),
  ..."Map Set WeakMap WeakSet Proxy Reflect Promise Iterator parseInt parseFloat isNaN isFinite".split(" "),
  ..."decodeURI decodeURIComponent encodeURI encodeURIComponent".split(" "),
  ..."Error EvalError RangeError ReferenceError SyntaxError TypeError URIError AggregateError".split(" "),
];

export const LIST_GLOBALS = "JSON.stringify(Object.getOwnPropertyNames(globalThis))";

/** A function `(variables as JSON, now)` that removes forbidden globals and defines the frozen variables. */
export function preludeWithout(globals: readonly string[]): string {
  return `(function (variables, now) {
"use strict";
const { freeze, keys, defineProperty, getPrototypeOf } = Object;
for (const name of ${JSON.stringify(globals)}) delete globalThis[name];
delete Math.random;
for (const kind of [function () {}, function* () {}, async function () {}, async function* () {}])
  defineProperty(getPrototypeOf(kind), "constructor", { value: undefined, writable: false, configurable: false });
const define = (name, value) => defineProperty(globalThis, name, { value, enumerable: true });
define("Date", freeze({ now: () => now }));
const given = JSON.parse(variables);
const waiting = [given];
while (waiting.length > 0) {
  const value = freeze(waiting.pop());
  for (const key of keys(value)) if (typeof value[key] === "object" && value[key] !== null) waiting.push(value[key]);
}
for (const name of keys(given)) define(name, given[name]);
})`;
}

/**
 * A function `(value, maxChars)` that returns the value as JSON, or undefined for undefined. It throws a string if JSON
 * would silently drop or change something. It is loaded before user code, so user code cannot have replaced its
 * builtins.
 */
export const SERIALISE = `(function () {
"use strict";
const { stringify } = JSON;
const kinds = [[Promise, "a promise"], [Map, "a Map"], [Set, "a Set"]];
const refuse = (key, value) => {
  const type = typeof value;
  if (type === "function" || type === "symbol" || type === "bigint") throw "it returned a " + type;
  if (key === "__proto__") throw "it returned an object with the key __proto__";
  if (type === "object")
    for (let i = 0; i < 3; i++) if (value instanceof kinds[i][0]) throw "it returned " + kinds[i][1];
  return value;
};
return (value, maxChars) => {
  const json = stringify(value, refuse);
  if (json !== undefined && json.length > maxChars) throw "its result is too large";
  return json;
};
})()`;

/**
 * A function `(value)` that returns whether the value is truthy, as JSON, for conditions. Only undefined is refused. It
 * is loaded before user code, too.
 */
export const SERIALISE_TRUTH = `(function () {
"use strict";
const Awaited = Promise;
return (value) => {
  if (value instanceof Awaited) throw "it returned a promise";
  return value === undefined ? undefined : value ? "true" : "false";
};
})()`;

/**
 * A function `(error, maxChars)` that returns the stack of a thrown error, or undefined. It is loaded after user code.
 */
export const STACK_OF = `(function (error, maxChars) {
"use strict";
try {
  return error instanceof Error ? String(error.stack).slice(0, maxChars) : undefined;
} catch {}
})`;

/**
 * A function `(error, maxChars)` that describes any thrown value. It is loaded after user code, which can garble only
 * its own message.
 */
export const DESCRIBE = `(function (error, maxChars) {
"use strict";
try {
  const words = error instanceof Error ? error.name + ": " + error.message
    : typeof error === "string" ? error : JSON.stringify(error) ?? String(error);
  return String(words).slice(0, maxChars);
} catch {
  return "an error that cannot be described";
}
})`;
