import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts a worker thread from the module `name` beside `caller` (an `import.meta.url`). Built, that module is
 * JavaScript and nothing else happens here. Under the tests the caller is TypeScript, which a thread of Node 20 cannot
 * load: that one thread then gets hooks that compile it.
 */
export function startThread(name: string, caller: string, options: WorkerOptions): Worker {
  const file = new URL(`./${name}.js`, caller);
  return new Worker(file, caller.endsWith(".ts") ? { ...options, execArgv: sourceHooks() } : options);
}

function sourceHooks(): string[] {
  const hooks = new URL("./source-thread-hooks.mjs", import.meta.url).href;
  const registration = `import { register } from "node:module"; register(${JSON.stringify(hooks)});`;
  return ["--import", `data:text/javascript,${encodeURIComponent(registration)}`];
}
