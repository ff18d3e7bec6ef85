import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { judged } from "../../../test/support/error-record.js";
import {
  begin,
  chatChunk,
  type ModelReply,
  ModelServers,
  refuse,
  say,
  sayInMessages,
} from "../../../test/support/model-server.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import type { Outcome } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import type { Attempt, StopCause } from "./action.js";
import { createLlmCallAction } from "./llm-call.js";

const servers = new ModelServers();
const STARTED_AT = Date.parse("2026-01-01T00:00:00Z");
const ENV = { MODEL_KEY: "key-for-tests-1" };

interface Ran {
  readonly result: Outcome<Json>;
  readonly stdout: string;
  readonly stderr: string;
  readonly signsOfLife: number;
}

interface Trial {
  readonly keys?: Record<string, Json>;
  readonly env?: { readonly [name: string]: string };
  readonly stop?: AbortController;
  readonly onPrint?: (text: string) => void;
  readonly system?: string;
}

async function ask(url: string | null, trial: Trial = {}): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  let signsOfLife = 0;
  const attempt: Attempt = {
    runId: 1,
    workflowId: 1,
    jobId: 10_000_001,
    stepId: "ask",
    attempt: 1,
    token: "t",
    action: {
      type: "llm_call",
      provider: "openai-compatible",
      model: "m",
      prompt: "as written",
      ...(url === null ? {} : { base_url: url }),
      ...trial.keys,
    } as ActionDefinition,
    env: trial.env ?? ENV,
    cwd: "/",
    variables: {},
    startedAt: STARTED_AT,
    timeoutMs: 1_234,
    idleTimeoutMs: 567,
    killGraceMs: 0,
    writeStdout(chunk) {
      signsOfLife += 1;
      stdout += Buffer.from(chunk).toString();
      trial.onPrint?.(stdout);
    },
    writeStderr(chunk) {
      stderr += Buffer.from(chunk).toString();
    },
    prompt: { text: "as assembled", system: trial.system ?? null, file: "" },
    outputFile: "",
    failureFile: "",
    signal: (trial.stop ?? new AbortController()).signal,
  };
  return { result: await createLlmCallAction().run(attempt), stdout, stderr, signsOfLife };
}

async function failureOf(reply: ModelReply, trial: Trial = {}) {
  const { result } = await ask((await servers.serve(reply)).url, trial);
  if (result.kind !== "failed") throw new Error(`expected a failure, got ${JSON.stringify(result)}`);
  return { ...result.facts, judged: judged(result.facts), usage: result.usage };
}

describe("a model call that is answered", () => {
  it("sends the assembled prompt and gives the streamed text", async () => {
    const { url, seen } = await servers.serve(say(["Hel", "lo"]));
    const { result, stdout, signsOfLife } = await ask(`${url}/`, {
      keys: { api_key_env: "MODEL_KEY", temperature: 0.5, max_output_tokens: 99 },
      system: "Be brief.",
    });
    expect(result).toMatchObject({ kind: "succeeded", output: "Hello" });
    expect(stdout).toBe("Hello");
    expect(signsOfLife).toBe(2);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer key-for-tests-1" },
      body: {
        model: "m",
        stream: true,
        temperature: 0.5,
        max_tokens: 99,
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "as assembled" },
        ],
      },
    });
  });

  it("sends no key where none is named", async () => {
    const { url, seen } = await servers.serve(say(["x"]));
    await ask(url);
    expect(seen[0]!.headers.authorization).toBeUndefined();
  });

  it("tells what it cost, to the worker and in the log", async () => {
    const { url } = await servers.serve(say(["x"]));
    const { result, stderr } = await ask(url);
    const usage = {
      provider: "openai-compatible",
      model: "m",
      input_tokens: 11,
      output_tokens: 7,
      total_tokens: 18,
    };
    expect(result.usage).toMatchObject(usage);
    expect(JSON.parse(stderr)).toMatchObject({ usage });
  });

  it("counts a model's thinking as a sign of life, not as its answer", async () => {
    const { url } = await servers.serve((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const delta = { role: "assistant", reasoning_content: "hm" };
      const choices = [{ index: 0, delta, finish_reason: null }];
      response.write(chatChunk("", { choices }));
      say(["answer"])(
        {
          writeHead: () => {},
          write: response.write.bind(response),
          end: response.end.bind(response),
        } as never,
        null as never,
      );
    });
    const { result, stdout, signsOfLife } = await ask(url);
    expect(result).toMatchObject({ kind: "succeeded", output: "answer" });
    expect(stdout).toBe("answer");
    expect(signsOfLife).toBe(2);
  });

  it("speaks the protocol of messages as well", async () => {
    const { url, seen } = await servers.serve(sayInMessages(["Good ", "day"]));
    const { result } = await ask(url, { keys: { provider: "anthropic", api_key_env: "MODEL_KEY" } });
    expect(result).toMatchObject({
      kind: "succeeded",
      output: "Good day",
      usage: { input_tokens: 5, output_tokens: 9 },
    });
    expect(seen[0]).toMatchObject({ path: "/v1/messages", headers: { "x-api-key": "key-for-tests-1" } });
  });
});

describe("an answer by a schema", () => {
  const schema = {
    type: "object",
    properties: { city: { type: "string" }, people: { type: "integer" } },
    required: ["city"],
  };

  it("becomes the output as JSON, and the endpoint is asked for it", async () => {
    const { url, seen } = await servers.serve(say(['{"city":"Ko', 'be","people":3}']));
    const { result } = await ask(url, { keys: { schema } });
    expect(result).toMatchObject({ kind: "succeeded", output: { city: "Kobe", people: 3 } });
    expect(seen[0]!.body.response_format).toMatchObject({
      type: "json_schema",
      json_schema: { strict: false, schema: { required: ["city"] } },
    });
  });

  it("is read out of a fence", async () => {
    const { url } = await servers.serve(say(['```json\n{"city":"Kobe"}\n```']));
    expect((await ask(url, { keys: { schema } })).result).toMatchObject({ output: { city: "Kobe" } });
  });

  it.each([
    ['{"town":"Kobe"}', "stop", "city"],
    ['{"city":"Kobe","people":"many"}', "stop", "people"],
    ["Kobe, I think", "stop", "it is not JSON"],
    ['{"city":"Ko', "length", "it was cut at max_output_tokens"],
  ])("that does not fit fails the contract: %s", async (text, reason, told) => {
    const { judged, usage } = await failureOf(say([text], reason), { keys: { schema } });
    expect(judged).toMatchObject({
      code: "OUTPUT_INVALID",
      class: "deterministic_contract",
      retryable: false,
      message: expect.stringContaining(told),
    });
    expect(usage).toMatchObject({ total_tokens: 18 });
  });
});

describe("a model call that fails", () => {
  it("is transient with the wait that 429 asks for, and is tried once only", async () => {
    const { url, seen } = await servers.serve(refuse(429, "slow down", { "retry-after": "7" }));
    const { result } = await ask(url);
    if (result.kind !== "failed") throw new Error("expected a failure");
    expect(judged(result.facts)).toMatchObject({
      code: "429",
      class: "transient_runtime",
      retry_after_ms: 7_000,
      message: "429 from openai-compatible m: slow down",
    });
    expect(seen).toHaveLength(1);
  });

  it("takes a wait in milliseconds over one in seconds, and a date by the server's clock", async () => {
    const inMs = await failureOf(refuse(429, "x", { "retry-after-ms": "1500", "retry-after": "2" }));
    expect(inMs.retryAfterMs).toBe(1_500);
    const date = await failureOf(
      refuse(503, "x", {
        date: "Thu, 01 Jan 2026 10:00:00 GMT",
        "retry-after": "Thu, 01 Jan 2026 10:00:30 GMT",
      }),
    );
    expect(date.retryAfterMs).toBe(30_000);
  });

  it.each([
    [500, "transient_runtime"],
    [503, "transient_runtime"],
    [400, "deterministic_contract"],
    [404, "deterministic_contract"],
    [422, "deterministic_contract"],
    [401, "deterministic_policy"],
    [403, "deterministic_policy"],
  ])("is judged by its status: %i is %s", async (status, failureClass) => {
    const { judged } = await failureOf(refuse(status, "no"));
    expect(judged).toMatchObject({ code: String(status), class: failureClass });
  });

  it.each([529, 429])("is transient where the other provider answers %i", async (status) => {
    const reply: ModelReply = (response) => {
      response.writeHead(status, { "content-type": "application/json", "retry-after": "3" });
      response.end(
        JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
      );
    };
    const { judged } = await failureOf(reply, { keys: { provider: "anthropic", api_key_env: "MODEL_KEY" } });
    expect(judged).toMatchObject({ code: String(status), class: "transient_runtime", retry_after_ms: 3_000 });
  });

  it("is a network error where the connection is cut in the middle", async () => {
    const { judged } = await failureOf(begin("Hel", (response) => response.socket!.resetAndDestroy()));
    expect(judged).toMatchObject({ code: "NETWORK_ERROR", class: "transient_runtime" });
  });

  it("is a network error where the stream just ends, however politely", async () => {
    const { judged } = await failureOf(begin("Hel", (response) => response.end()));
    expect(judged).toMatchObject({ code: "NETWORK_ERROR", class: "transient_runtime" });
    expect(judged.message).toContain("ended before");
  });

  it("is a network error where the other provider's stream just ends", async () => {
    const reply: ModelReply = (response, request) =>
      sayInMessages(["Good"])(
        {
          writeHead: response.writeHead.bind(response),
          write: (text: string) => (/message_delta|message_stop/.test(text) ? true : response.write(text)),
          end: () => response.end(),
        } as never,
        request,
      );
    const { judged } = await failureOf(reply, { keys: { provider: "anthropic", api_key_env: "MODEL_KEY" } });
    expect(judged).toMatchObject({ code: "NETWORK_ERROR", class: "transient_runtime" });
  });

  it("is a network error where nobody listens or answers", async () => {
    const { judged } = await failureOf((response) => void response.socket!.destroy());
    expect(judged).toMatchObject({ code: "NETWORK_ERROR", class: "transient_runtime" });
    const server = createServer();
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => server.close(closed));
    const { result } = await ask(`http://127.0.0.1:${port}/v1`);
    if (result.kind !== "failed") throw new Error("expected a failure");
    expect(result.facts).toMatchObject({ errno: "ECONNREFUSED" });
  });

  it.each([
    [{ message: "busy", type: "overloaded_error" }, "529", "transient_runtime"],
    [{ message: "bad", type: "invalid_request_error", code: 400 }, "400", "deterministic_contract"],
    [{ message: "odd", type: "nobody_knows" }, "PROVIDER_ERROR", "transient_runtime"],
  ])("is judged by an error within the stream: %j", async (error, code, failureClass) => {
    const { judged } = await failureOf(
      begin("Hel", (response) => response.end(`data: ${JSON.stringify({ error })}\n\n`)),
    );
    expect(judged).toMatchObject({ code, class: failureClass });
    expect(judged.message).toContain(error.message);
  });

  it("is a matter of policy where the provider withholds the answer", async () => {
    const { judged } = await failureOf(say(["I"], "content_filter"));
    expect(judged).toMatchObject({ code: "CONTENT_FILTERED", class: "deterministic_policy" });
  });

  it("is a matter of policy where the key is not set, and nothing is sent", async () => {
    const { url, seen } = await servers.serve(say(["x"]));
    const { result } = await ask(url, { keys: { api_key_env: "MODEL_KEY" }, env: {} });
    if (result.kind !== "failed") throw new Error("expected a failure");
    expect(judged(result.facts)).toMatchObject({
      code: "MISSING_SECRET",
      class: "deterministic_policy",
      message: "not set: MODEL_KEY",
    });
    expect(seen).toEqual([]);
  });

  it.each([{ base_url: "not an address" }, { base_url: "ftp://x/" }, { model: " " }])(
    "cannot be sent as it stands: %j",
    async (keys) => {
      const { result } = await ask("http://127.0.0.1:1/v1", { keys });
      if (result.kind !== "failed") throw new Error("expected a failure");
      expect(judged(result.facts)).toMatchObject({
        code: "REQUEST_INVALID",
        class: "deterministic_contract",
      });
    },
  );
});

describe("a model call that is stopped", () => {
  it.each([
    ["timeout", "TIMEOUT"],
    ["idle_timeout", "IDLE_TIMEOUT"],
  ] as const)("ends its request and says why: %s", async (cause: StopCause, code) => {
    const stop = new AbortController();
    let closed: () => void;
    const requestClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { url } = await servers.serve((response, request) => {
      response.on("close", () => closed());
      return begin("Hel")(response, request);
    });
    const { result } = await ask(url, { stop, onPrint: () => stop.abort(cause) });
    if (result.kind !== "failed") throw new Error("expected a failure");
    expect(judged(result.facts).code).toBe(code);
    await requestClosed;
  });
});

describe("a model call that is redirected", () => {
  const PROVIDERS = ["openai-compatible", "openai", "anthropic", "google"];
  const redirectTo =
    (target: string, status = 307): ModelReply =>
    (response, { path }) => {
      response.writeHead(status, { location: `${target}${path}` }).end();
    };

  it.each(PROVIDERS)("takes neither key nor prompt to another origin: %s", async (provider) => {
    const other = await servers.serve(say(["stolen"]));
    const first = await servers.serve(redirectTo(new URL(other.url).origin));
    const { result } = await ask(first.url, { keys: { provider, api_key_env: "MODEL_KEY" } });
    expect(other.seen).toEqual([]);
    expect(first.seen).toHaveLength(1);
    expect(result).toMatchObject({ kind: "failed", facts: { code: "REQUEST_INVALID" } });
    expect(JSON.stringify(result)).toContain("redirect_origins");
  });

  it.each([301, 302, 303, 308])("takes no answer from another origin: %i", async (status) => {
    const other = await servers.serve(say(["forged"]));
    const first = await servers.serve(redirectTo(new URL(other.url).origin, status));
    const { result } = await ask(first.url, { keys: { api_key_env: "MODEL_KEY" } });
    expect(other.seen).toEqual([]);
    expect(result).toMatchObject({ kind: "failed", facts: { code: "REQUEST_INVALID" } });
    expect(JSON.stringify(result)).toContain("redirect_origins");
  });

  it("goes on at another origin that the step names, and anywhere at its own", async () => {
    const other = await servers.serve(say(["hello"]));
    const { origin } = new URL(other.url);
    const first = await servers.serve(redirectTo(origin));
    const keys = { api_key_env: "MODEL_KEY", redirect_origins: [origin] };
    expect((await ask(first.url, { keys })).result).toMatchObject({ kind: "succeeded", output: "hello" });
    expect(other.seen[0]!.headers.authorization).toBe("Bearer key-for-tests-1");
    const own = await servers.serve(
      (response) => {
        response.writeHead(307, { location: "/v2/chat/completions" }).end();
      },
      say(["moved"]),
    );
    const { result } = await ask(own.url, { keys: { api_key_env: "MODEL_KEY" } });
    expect(result).toMatchObject({ kind: "succeeded", output: "moved" });
    expect(own.seen[1]!.headers.authorization).toBe("Bearer key-for-tests-1");
  });
});
