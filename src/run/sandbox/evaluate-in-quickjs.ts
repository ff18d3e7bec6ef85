import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
} from "quickjs-emscripten-core";
import { checkResult, maxResultBytes, refuse, type Verdict } from "./check-result.js";
import { MAX_REASON_CHARS, MAX_STACK_CHARS, MEMORY_LIMIT_BYTES, STACK_LIMIT_BYTES } from "./limits.js";
import {
  ALLOWED_GLOBALS,
  DESCRIBE,
  LIST_GLOBALS,
  preludeWithout,
  SERIALISE,
  SERIALISE_TRUTH,
  STACK_OF,
} from "./prelude.js";
import type { ExpectedResult } from "./sandbox.js";
import { wrapCode } from "./wrap-code.js";

/** One evaluation, as it is sent to the thread. */
export interface EvaluationRequest {
  readonly code: string;
  /** A JSON object. */
  readonly variables: string;
  readonly now: number;
  readonly expects: ExpectedResult;
  readonly maxInterrupts: number;
}

/**
 * Only what expressions need. Date, typed arrays (and so shared memory) and WeakRef are left out, so they cannot be
 * misused.
 */
const INTRINSICS = {
  BaseObjects: true,
  Eval: true,
  StringNormalize: true,
  RegExp: true,
  RegExpCompiler: true,
  JSON: true,
  Proxy: true,
  MapSet: true,
  Promise: true,
  BigInt: true,
};

const SOURCE_NAME = "expression";
const PLACE = new RegExp(`\\b${SOURCE_NAME}:(\\d+)`, "g");

/** Moves line numbers back by one: user code begins on the second line of the source that QuickJS sees. */
function ofUserCode(stack: string): string {
  return stack.trimEnd().replace(PLACE, (_, line) => `script:${Number(line) - 1}`);
}

type Evaluate = (request: EvaluationRequest) => Verdict;

/** Throws on a fault of QuickJS itself, because its memory can no longer be trusted. */
export function createEvaluator(quickjs: QuickJSWASMModule): Evaluate {
  const prelude = preludeWithout(withFreshContext(quickjs, (context) => listForbiddenGlobals(context)));
  return (request) => {
    const wrapped = wrapCode(request.code);
    if (!wrapped.ok) return refuse("EXPRESSION_SYNTAX", wrapped.problem.message);
    return withFreshContext(quickjs, (context, runtime) =>
      new ContextEvaluation(context, runtime, request).evaluate(prelude, wrapped.source),
    );
  };
}

/**
 * Makes a runtime and a context for one evaluation (0.15 ms), so nothing that the code does to builtins, memory or
 * pending jobs reaches the next evaluation. Frozen builtins in a shared context would be faster, but one oversight
 * would leak.
 */
function withFreshContext<T>(
  quickjs: QuickJSWASMModule,
  use: (context: QuickJSContext, runtime: QuickJSRuntime) => T,
): T {
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(MEMORY_LIMIT_BYTES);
  runtime.setMaxStackSize(STACK_LIMIT_BYTES);
  const context = runtime.newContext({ intrinsics: INTRINSICS });
  const result = use(context, runtime);
  context.dispose();
  runtime.dispose();
  return result;
}

function listForbiddenGlobals(context: QuickJSContext): string[] {
  const names = context
    .unwrapResult(context.evalCode(LIST_GLOBALS))
    .consume((handle) => context.getString(handle));
  return (JSON.parse(names) as string[]).filter((name) => !ALLOWED_GLOBALS.includes(name));
}

/** The result of a call into QuickJS: the returned value, or the thrown one. */
type Outcome = { readonly threw: boolean; readonly handle: QuickJSHandle };

/** One evaluation in its own context. Its handles are disposed of together, at the end. */
class ContextEvaluation {
  readonly #context: QuickJSContext;
  readonly #runtime: QuickJSRuntime;
  readonly #request: EvaluationRequest;
  readonly #handles: QuickJSHandle[] = [];
  #interrupts = 0;

  constructor(context: QuickJSContext, runtime: QuickJSRuntime, request: EvaluationRequest) {
    this.#context = context;
    this.#runtime = runtime;
    this.#request = request;
  }

  evaluate(prelude: string, source: string): Verdict {
    try {
      return this.#evaluate(prelude, source);
    } finally {
      for (const handle of this.#handles) handle.dispose();
    }
  }

  #evaluate(prelude: string, source: string): Verdict {
    const { variables, now, expects, maxInterrupts } = this.#request;
    const code = this.#load(source);
    if (code.threw) return this.#explain(code, "EXPRESSION_SYNTAX");
    const serialise = this.#load(expects === "boolean" ? SERIALISE_TRUTH : SERIALISE);
    const prepared = this.#call(this.#load(prelude), this.#string(variables), this.#number(now));
    if (prepared.threw) return this.#explain(prepared, "EXPRESSION_MEMORY");

    this.#runtime.setInterruptHandler(() => ++this.#interrupts > maxInterrupts);
    const returned = this.#call(code);
    if (returned.threw) return this.#explain(returned, "EXPRESSION_THREW");
    const json = this.#call(serialise, returned.handle, this.#number(maxResultBytes(expects)));
    if (json.threw) return this.#explain(json, "EXPRESSION_RESULT");
    return checkResult(
      this.#context.typeof(json.handle) === "string" ? this.#context.getString(json.handle) : null,
      expects,
      this.#request.code,
    );
  }

  /** Explains why there is no value. Running out of time or memory takes precedence over `code`. */
  #explain(outcome: Outcome, code: string): Verdict {
    if (this.#interrupts > this.#request.maxInterrupts) return ranTooLong();
    const words = this.#call(this.#load(DESCRIBE), outcome.handle, this.#number(MAX_REASON_CHARS));
    if (this.#interrupts > this.#request.maxInterrupts) return ranTooLong();
    if (words.threw || this.#context.typeof(words.handle) !== "string") return outOfMemory();
    const reason = this.#context.getString(words.handle).slice(0, MAX_REASON_CHARS);
    if (reason === "InternalError: out of memory") return outOfMemory();
    const refused = refuse(code, reason);
    // A reason is enough for an expression of a few lines. Only the error of a script also gets its place.
    if (code !== "EXPRESSION_THREW" || this.#request.expects !== "json") return refused;
    const stack = this.#call(this.#load(STACK_OF), outcome.handle, this.#number(MAX_STACK_CHARS));
    if (stack.threw || this.#context.typeof(stack.handle) !== "string") return refused;
    return { ...refused, stack: `${reason}\n${ofUserCode(this.#context.getString(stack.handle))}` };
  }

  #load(source: string): Outcome {
    return this.#keep(this.#context.evalCode(source, SOURCE_NAME));
  }

  /** If `callee` failed to load, its error is the result. */
  #call(callee: Outcome, ...args: QuickJSHandle[]): Outcome {
    if (callee.threw) return callee;
    return this.#keep(this.#context.callFunction(callee.handle, this.#context.undefined, args));
  }

  #keep(result: ReturnType<QuickJSContext["evalCode"]>): Outcome {
    const handle = result.error ?? result.value;
    this.#handles.push(handle);
    return { threw: result.error !== undefined, handle };
  }

  #string(text: string): QuickJSHandle {
    const handle = this.#context.newString(text);
    this.#handles.push(handle);
    return handle;
  }

  #number(value: number): QuickJSHandle {
    const handle = this.#context.newNumber(value);
    this.#handles.push(handle);
    return handle;
  }
}

function ranTooLong(): Verdict {
  return refuse("EXPRESSION_TIMEOUT", "it ran too long and was stopped");
}

function outOfMemory(): Verdict {
  return refuse("EXPRESSION_MEMORY", "it used too much memory");
}
