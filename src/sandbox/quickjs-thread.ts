import { parentPort } from "node:worker_threads";
import { newQuickJSWASMModuleFromVariant } from "quickjs-emscripten-core";
import type { EvaluationResult } from "../core/events.js";
import { withDuration } from "./check-result.js";
import { createEvaluator, type EvaluationRequest } from "./evaluate-in-quickjs.js";

/** The thread says "ready" once, then answers each list of requests with the list of their results. */
export type ThreadMessage = "ready" | readonly EvaluationResult[];

const port = parentPort;
if (port === null) throw new Error("quickjs-thread is a worker thread");

const evaluate = createEvaluator(
  await newQuickJSWASMModuleFromVariant(import("@jitl/quickjs-wasmfile-release-sync")),
);

port.on("message", (requests: readonly EvaluationRequest[]) => {
  port.postMessage(
    requests.map((request) => {
      const startedAt = performance.now();
      const verdict = evaluate(request);
      return withDuration(verdict, performance.now() - startedAt);
    }) satisfies ThreadMessage,
  );
});
port.postMessage("ready" satisfies ThreadMessage);
