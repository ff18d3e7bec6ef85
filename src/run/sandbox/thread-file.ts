import { Worker, type WorkerOptions } from "node:worker_threads";

/**
 * Starts a worker thread from a built module. Tests run the TypeScript source, which a thread of Node 20 cannot load by
 * itself, so the thread then gets hooks that compile it.
 */
export function startThread(file: URL, options: WorkerOptions): Worker {
  const isSource = import.meta.url.endsWith(".ts");
  return new Worker(file, isSource ? { ...options, execArgv: sourceHooks() } : options);
}

function sourceHooks(): string[] {
  const hooks = new URL("./source-thread-hooks.mjs", import.meta.url).href;
  const registration = `import { register } from "node:module"; register(${JSON.stringify(hooks)});`;
  return ["--import", `data:text/javascript,${encodeURIComponent(registration)}`];
}
