import { type MessagePort, parentPort } from "node:worker_threads";
import { newQuickJSWASMModuleFromVariant } from "quickjs-emscripten-core";
import type { EvaluationResult } from "../../core/model/events.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { refuse, type Verdict, withDuration } from "./check-result.js";
import { createEvaluator, type EvaluationRequest } from "./evaluate-in-quickjs.js";
import { type Rendering, renderStep } from "./render-step.js";
import { systemThreadId } from "./thread-cpu.js";

/** A request to render the templates of one step, as it is sent to the thread. */
export interface RenderRequest {
  /** A `Rendering` as JSON. */
  readonly rendering: string;
}

export type ThreadRequest = EvaluationRequest | RenderRequest;

/** The thread first reports its id, then answers each list of requests with a list of results. */
export type ThreadMessage = { readonly threadId: number | null } | readonly EvaluationResult[];

function render({ rendering }: RenderRequest): Verdict {
  try {
    return { ok: true, value: renderStep(JSON.parse(rendering) as Rendering) as unknown as Json };
  } catch (error) {
    return refuse("TEMPLATE_ERROR", messageOf(error));
  }
}

async function serve(port: MessagePort): Promise<void> {
  const evaluate = createEvaluator(
    await newQuickJSWASMModuleFromVariant(import("@jitl/quickjs-wasmfile-release-sync")),
  );
  port.on("message", (requests: readonly ThreadRequest[]) => {
    port.postMessage(
      requests.map((request) => {
        const startedAt = performance.now();
        const verdict = "rendering" in request ? render(request) : evaluate(request);
        return withDuration(verdict, performance.now() - startedAt);
      }) satisfies ThreadMessage,
    );
  });
  port.postMessage({ threadId: systemThreadId() } satisfies ThreadMessage);
}

if (parentPort === null) throw new Error("quickjs-thread is a worker thread");
// This cannot be awaited, because the bundle is CommonJS. A rejection ends the thread, which notifies its owner.
void serve(parentPort);
