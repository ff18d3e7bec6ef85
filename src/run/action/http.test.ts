import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { judged } from "../../../test/support/error-record.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import type { Outcome } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import type { Attempt, StopCause } from "./action.js";
import { createHttpAction, MAX_CAPTURED_BODY_BYTES } from "./http.js";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answer =
  (status: number, body = "", headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };

async function readAll(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

interface Ran {
  readonly result: Outcome<Json>;
  readonly printed: number;
  readonly log: string;
}

const STARTED_AT = Date.parse("2026-01-01T00:00:00Z");

async function request(
  keys: Record<string, Json>,
  stop = new AbortController(),
  onPrint = () => {},
): Promise<Ran> {
  let printed = 0;
  let log = "";
  const attempt: Attempt = {
    runId: 1,
    workflowId: 1,
    jobId: 10_000_001,
    stepId: "call",
    attempt: 1,
    token: "t",
    action: { type: "http", ...keys } as ActionDefinition,
    env: {},
    cwd: "/",
    variables: {},
    startedAt: STARTED_AT,
    timeoutMs: 1_234,
    idleTimeoutMs: 567,
    killGraceMs: 0,
    writeStdout(chunk) {
      printed += chunk.length;
      if (log.length < 1_000) log += Buffer.from(chunk).toString();
      onPrint();
    },
    writeStderr() {},
    outputFile: "",
    failureFile: "",
    signal: stop.signal,
  };
  return { result: await createHttpAction().run(attempt), printed, log };
}

async function failureOf(keys: Record<string, Json>) {
  const { result } = await request(keys);
  if (result.kind !== "failed") throw new Error("expected a failure");
  return { ...result.facts, judged: judged(result.facts) };
}

describe("an http step that gets what it expects", () => {
  it("gives status, headers and parsed body, and prints the body", async () => {
    const url = await serve(answer(200, '{"a":[1]}', { "content-type": "application/json", "x-one": "1" }));
    const { result, log } = await request({ url });
    expect(result).toMatchObject({
      kind: "succeeded",
      output: { status: 200, body: { a: [1] }, headers: { "x-one": "1" } },
    });
    expect(log).toBe('{"a":[1]}');
  });

  it("sends method, headers and body, an object as JSON", async () => {
    const url = await serve(async (incoming, response) => {
      const body = await readAll(incoming);
      response.end(
        JSON.stringify({
          method: incoming.method,
          type: incoming.headers["content-type"],
          key: incoming.headers["x-key"],
          body,
        }),
      );
    });
    const { result } = await request({ url, method: "put", headers: { "X-Key": 7 }, body: { a: 1 } });
    expect(result).toMatchObject({
      output: { body: { method: "PUT", type: "application/json", key: "7", body: '{"a":1}' } },
    });
    const text = await request({ url, method: "POST", headers: { "content-type": "text/csv" }, body: "a,b" });
    expect(text.result).toMatchObject({ output: { body: { type: "text/csv", body: "a,b" } } });
  });

  it("keeps a body that is no JSON as text", async () => {
    const url = await serve(answer(200, '{"a":', { "content-type": "application/json" }));
    expect((await request({ url })).result).toMatchObject({ kind: "succeeded", output: { body: '{"a":' } });
  });

  it("keeps a body that is nested too deeply as text", async () => {
    const bodyOf = async (levels: number): Promise<unknown> => {
      const url = await serve(answer(200, "[".repeat(levels) + "]".repeat(levels)));
      const { result } = await request({ url, method: "GET" });
      return result.kind === "succeeded" ? (result.output as { body: Json }).body : null;
    };
    expect(await bodyOf(999)).toBeInstanceOf(Array);
    expect(await bodyOf(1_000)).toBeTypeOf("string");
  });

  it("takes a status, a pattern or a list of them as expected", async () => {
    const url = await serve(answer(404));
    expect((await request({ url, expect_status: 404 })).result.kind).toBe("succeeded");
    expect((await request({ url, expect_status: "4xx" })).result.kind).toBe("succeeded");
    expect((await request({ url, expect_status: [200, "404"] })).result.kind).toBe("succeeded");
    expect((await request({ url, expect_status: [200, 405] })).result.kind).toBe("failed");
    expect((await request({ url })).result.kind).toBe("failed");
  });

  it("captures the first MB of a huge body and prints all of it", async () => {
    const size = 20 * 1_048_576;
    const url = await serve((_, response) => {
      response.end(Buffer.alloc(size, 97));
    });
    const { result, printed } = await request({ url });
    expect(printed).toBe(size);
    const { output } = result as unknown as { output: { body: string; body_truncated: boolean } };
    expect(output.body.length).toBe(MAX_CAPTURED_BODY_BYTES);
    expect(output.body_truncated).toBe(true);
  });

  it("sends user and password of the URL as basic authorization", async () => {
    const url = await serve(
      (incoming, response) => void response.end(JSON.stringify(incoming.headers.authorization)),
    );
    const { result } = await request({ url: url.replace("://", "://bob:p%40ss@") });
    expect(result).toMatchObject({ output: { body: `Basic ${Buffer.from("bob:p@ss").toString("base64")}` } });
  });
});

describe("an http step with an unexpected status", () => {
  it.each([
    [503, "transient_runtime", true],
    [429, "transient_runtime", true],
    [400, "deterministic_contract", false],
    [401, "deterministic_policy", false],
  ])("%i fails as %s", async (status, kind, retryable) => {
    const url = await serve(answer(status, "why"));
    const failure = await failureOf({ url: `${url}/a?secret=1` });
    expect(failure.judged).toMatchObject({ code: String(status), class: kind, retryable });
    expect(failure.message).toContain(`${status} `);
    expect(failure.message).toContain(`GET ${url}/a`);
    expect(failure.message).not.toContain("secret");
  });

  it("prints the body of a failure too", async () => {
    const url = await serve(answer(500, "the reason"));
    expect((await request({ url })).log).toBe("the reason");
  });

  it("reads Retry-After in seconds", async () => {
    const url = await serve(answer(429, "", { "retry-after": "7" }));
    expect((await failureOf({ url })).retryAfterMs).toBe(7_000);
  });

  it("reads Retry-After as a date by the server's clock, or by the attempt's start", async () => {
    const retryAfter = "Thu, 01 Jan 2026 00:01:00 GMT";
    const dated = await serve(
      answer(503, "", { "retry-after": retryAfter, date: "Thu, 01 Jan 2026 00:00:50 GMT" }),
    );
    expect((await failureOf({ url: dated })).retryAfterMs).toBe(10_000);
    const undated = await serve((_, response) => {
      response.sendDate = false;
      response.writeHead(503, { "retry-after": retryAfter }).end();
    });
    expect((await failureOf({ url: undated })).retryAfterMs).toBe(60_000);
    const past = await serve(
      answer(503, "", { "retry-after": retryAfter, date: "Thu, 01 Jan 2026 00:02:00 GMT" }),
    );
    expect((await failureOf({ url: past })).retryAfterMs).toBe(0);
  });

  it("asks for nothing if Retry-After is missing or nonsense", async () => {
    const url = await serve(answer(503, "", { "retry-after": "soon" }));
    expect(await failureOf({ url })).not.toHaveProperty("retryAfterMs");
  });
});

describe("redirects", () => {
  const echo: RequestListener = (incoming, response) => {
    const { authorization, cookie } = incoming.headers;
    const seen = {
      authorization,
      cookie,
      key: incoming.headers["x-api-key"],
      plain: incoming.headers["x-plain"],
      method: incoming.method,
    };
    void readAll(incoming).then((body) => response.end(JSON.stringify({ ...seen, body })));
  };
  const headers = { authorization: "Bearer x", cookie: "a=b", "x-api-key": "k", "x-plain": "p" };
  const bodyOf = ({ result }: Ran) => (result as unknown as { output: { body: Json } }).output.body;

  it("are followed, with headers only to the same origin, or to one that the step names", async () => {
    const other = await serve(echo);
    const url = await serve((incoming, response) => {
      if (incoming.url === "/here") response.writeHead(302, { location: "/end" }).end();
      else if (incoming.url === "/there") response.writeHead(302, { location: `${other}/end` }).end();
      else echo(incoming, response);
    });
    expect(bodyOf(await request({ url: `${url}/here`, headers }))).toMatchObject({
      authorization: "Bearer x",
      cookie: "a=b",
      key: "k",
      plain: "p",
    });
    const there = { url: `${url}/there`, headers };
    expect(bodyOf(await request(there))).toEqual({ method: "GET", body: "" });
    const named = { ...there, redirect_origins: [other] };
    expect(bodyOf(await request(named))).toMatchObject({ authorization: "Bearer x", plain: "p" });
  });

  it("turn POST into GET for 303 and 302, and repeat it for 307", async () => {
    const url = await serve((incoming, response) => {
      const status = Number(incoming.url?.slice(1));
      if (status) response.writeHead(status, { location: "/end" }).end();
      else echo(incoming, response);
    });
    const post = (status: number) =>
      request({ url: `${url}/${status}`, method: "POST", body: "data" }).then(bodyOf);
    expect(await post(302)).toMatchObject({ method: "GET", body: "" });
    expect(await post(303)).toMatchObject({ method: "GET", body: "" });
    expect(await post(307)).toMatchObject({ method: "POST", body: "data" });
  });

  it("are not followed where they are expected", async () => {
    const url = await serve(answer(302, "", { location: "/nowhere" }));
    expect((await request({ url, expect_status: 302 })).result).toMatchObject({
      kind: "succeeded",
      output: { status: 302 },
    });
  });

  it("end after ten, and never leave HTTP", async () => {
    let hops = 0;
    const endless = await serve((_, response) => {
      hops++;
      response.writeHead(302, { location: "/again" }).end();
    });
    expect((await failureOf({ url: endless })).judged).toMatchObject({
      code: "REQUEST_INVALID",
      retryable: false,
    });
    expect(hops).toBe(11);
    const leaving = await serve(answer(302, "", { location: "file:///etc/passwd" }));
    expect((await failureOf({ url: leaving })).message).toContain("file:");
  });
});

describe("an http step whose connection fails", () => {
  const network = { code: "NETWORK_ERROR", class: "transient_runtime", retryable: true };

  it("is a network error when the port is closed", async () => {
    const url = await serve(answer(200));
    await new Promise((resolve) => servers.pop()?.close(resolve));
    const failure = await failureOf({ url });
    expect(failure.errno).toBe("ECONNREFUSED");
    expect(failure.judged).toMatchObject(network);
  });

  it("is a network error when the host has no address", async () => {
    const failure = await failureOf({ url: "http://no-such-host.invalid/" });
    expect(failure.judged).toMatchObject(network);
  });

  it("is a network error when it is cut before the answer", async () => {
    const url = await serve((incoming) => void incoming.socket.destroy());
    expect((await failureOf({ url })).judged).toMatchObject(network);
  });

  it.each([
    ["with a length", (response: ServerResponse) => response.writeHead(200, { "content-length": "100" })],
    ["in chunks", (response: ServerResponse) => response.writeHead(200)],
  ])("is a network error when the body %s is cut, though the status was good", async (_, start) => {
    const url = await serve((incoming, response) => {
      start(response).write("half", () => incoming.socket.destroy());
    });
    const { result, log } = await request({ url });
    expect(result.kind).toBe("failed");
    expect(log).toBe("half");
    if (result.kind === "failed") expect(judged(result.facts)).toMatchObject(network);
  });
});

describe("an http step that is stopped", () => {
  const stoppedBy = async (cause: StopCause) => {
    const stop = new AbortController();
    const url = await serve((_, response) => void response.writeHead(200).write("begun"));
    const { result } = await request({ url }, stop, () => stop.abort(cause));
    return result.kind === "failed" ? result.facts : result.kind;
  };

  it("ends while a slow body is coming, and says which time ran out", async () => {
    expect(await stoppedBy("timeout")).toEqual({ message: "timed out after 1234 ms", timeout: "wall" });
    expect(await stoppedBy("idle_timeout")).toEqual({
      message: "printed nothing for 567 ms",
      timeout: "idle",
    });
    expect(await stoppedBy("stopped")).toBe("stopped");
  });

  it("does not even start if it was stopped before", async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked++;
      response.end();
    });
    const stop = new AbortController();
    stop.abort("timeout" satisfies StopCause);
    expect((await request({ url }, stop)).result).toMatchObject({
      kind: "failed",
      facts: { timeout: "wall" },
    });
    expect(asked).toBe(0);
  });
});

describe("an http step that cannot be sent", () => {
  it.each([
    [{ url: "ftp://127.0.0.1/x" }, "ftp:"],
    [{ url: "not a url" }, "url"],
    [{ url: "http://127.0.0.1/", body: "x" }, "GET"],
    [{ url: "http://127.0.0.1/", headers: { "bad name": "hunter22" } }, "bad name"],
    [{ url: "http://127.0.0.1/", headers: { ok: "hunter22\n" + "x: y" } }, "ok"],
    [{ url: "http://127.0.0.1/", expect_status: "ok" }, "expect_status"],
  ])("%j is refused for good, without its secrets", async (keys, named) => {
    const failure = await failureOf(keys as Record<string, Json>);
    expect(failure.judged).toMatchObject({
      code: "REQUEST_INVALID",
      class: "deterministic_contract",
      retryable: false,
    });
    expect(failure.message).toContain(named);
    expect(failure.message).not.toContain("hunter22");
  });
});
