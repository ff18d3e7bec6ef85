import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { begin, ModelServers, refuse, type SeenRequest, say } from "../support/model-server.js";
import { filesIn, RealRuns } from "../support/real-run.js";

const runs = new RealRuns();
const servers = new ModelServers();
const KEY = "key-of-the-model-1";
const env = { ...process.env, MODEL_KEY: KEY };

function askedIn(request: SeenRequest | undefined): string {
  const messages = (request?.body.messages ?? []) as { role: string; content: string }[];
  return messages.find(({ role }) => role === "user")?.content ?? "";
}

const callTo = (url: string, more = "") =>
  `type: llm_call, provider: openai-compatible, base_url: "${url}", model: m, prompt: "What now?"${more}`;

describe("a model call in a workflow", () => {
  it("sends exactly its prompt, gives its text and records its tokens", async () => {
    const { url, seen } = await servers.serve(say(["Rest", "."]));
    const run = await runs.run(`
name: ask
steps:
  ask: { ${callTo(url)} }
  use: { exec: "echo the model said {{ outputs.ask | sh }}", depends_on: [ask] }
`);
    expect(run.report.status).toBe("completed");
    expect(askedIn(seen[0])).toBe("What now?");
    expect(run.job("use").output).toBe("the model said Rest.");
    expect(JSON.parse(run.text(`usage/j${run.job("ask").id}_a1.json`))).toMatchObject({
      model: "m",
      input_tokens: 11,
      output_tokens: 7,
    });
    const [succeeded] = await run.events("attempt.succeeded");
    expect(succeeded!.usage).toMatchObject({ model: "m", input_tokens: 11, output_tokens: 7 });
    expect(run.text("_a1.o")).toContain("Rest.");
  });

  it("waits as long as 429 asks for, then tells the model of the failure", { tags: ["W42"] }, async () => {
    const { url, seen } = await servers.serve(
      refuse(429, "slow down", { "retry-after-ms": "60" }),
      refuse(503, "not now"),
      say(["Rest."]),
    );
    const run = await runs.run(`
name: retry
steps:
  ask: { ${callTo(url, ", on_fail: { retry: { max: 2, on: ['429', '503'] } }")} }
`);
    expect(run.report.status).toBe("completed");
    expect((await run.events("attempt.failed")).map(({ error }) => [error.code, error.class])).toEqual([
      ["429", "transient_runtime"],
      ["503", "transient_runtime"],
    ]);
    const [waited] = await run.events("retry.scheduled");
    expect(waited!.delay_ms).toBe(60);
    expect(seen).toHaveLength(3);
    expect(askedIn(seen[1])).toMatch(/^DARUMA_RETRY_CONTEXT v1\n/);
    expect(askedIn(seen[1])).toContain("message: 429 from openai-compatible m: slow down");
    expect(askedIn(seen[1])).toContain("instructions:\nWhat now?");
  });

  it.each([
    ["goes silent", "idle_timeout_ms: 2000", "IDLE_TIMEOUT", "transient_runtime"],
    ["takes longer than all of it may", "timeout_ms: 2000", "TIMEOUT", "transient_runtime"],
  ])(
    "whose stream %s is ended in the middle and begun afresh",
    { tags: ["W29", "W42"] },
    async (_, limit, code, failureClass) => {
      const { url, seen } = await servers.serve(begin("Hm"), say(["Rest."]));
      const run = await runs.run(`
name: slow
steps:
  ask: { ${callTo(url, `, ${limit}, on_fail: { retry: { max: 1 } }`)} }
`);
      expect(run.job("ask").output).toBe("Rest.");
      const failures = await run.events("attempt.failed");
      expect(failures.map(({ error }) => [error.code, error.class])).toEqual([[code, failureClass]]);
      expect(run.text("_a1.o")).toContain("Hm");
      expect(seen).toHaveLength(2);
      expect(askedIn(seen[1])).not.toContain("Hm");
    },
  );

  it("whose answer does not fit its schema is not asked again", { tags: ["W42"] }, async () => {
    const { url, seen } = await servers.serve(say(['{"town": "Kobe"}']));
    const run = await runs.run(`
name: contract
steps:
  ask: { ${callTo(url, ", schema: { type: object, required: [city] }, on_fail: { retry: { max: 3 } }")} }
`);
    expect(run.report.status).toBe("failed");
    expect(run.job("ask").error).toMatchObject({ code: "OUTPUT_INVALID" });
    expect(seen).toHaveLength(1);
    expect(JSON.parse(run.text(`usage/j${run.job("ask").id}_a1.json`))).toMatchObject({ total_tokens: 18 });
  });

  it("keeps its key secret in every step, though the file does not list it", async () => {
    const { url, seen } = await servers.serve(say([`your key is ${KEY.slice(0, 9)}`, KEY.slice(9)]));
    const run = await runs.run(
      `
name: keys
steps:
  ask: { ${callTo(url, ", api_key_env: MODEL_KEY")} }
  leak: { exec: "echo again $MODEL_KEY", depends_on: [ask] }
`,
      { env },
    );
    expect(seen[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(run.job("ask").output).toBe("your key is [redacted:MODEL_KEY]");
    expect(run.job("leak").output).toBe("again [redacted:MODEL_KEY]");
    for (const file of filesIn(run.outputDir)) expect(readFileSync(file).includes(KEY), file).toBe(false);
  });

  it("does not begin without its key", async () => {
    const step = "{ type: llm_call, provider: anthropic, api_key_env: NOT_THERE, model: m, prompt: p }";
    await expect(runs.run(`name: keyless\nsteps: { ask: ${step} }`, { env: {} })).rejects.toMatchObject({
      code: "MISSING_SECRET",
    });
  });

  it("takes over on a failure edge with all that is known", { tags: ["A37"] }, async () => {
    const { url, seen } = await servers.serve(say(["Buy a disk."]));
    const run = await runs.run(`
name: edge
steps:
  plan: { exec: "echo copy all" }
  copy: { exec: "echo no space left on device >&2; exit 5", depends_on: [plan] }
  advise: { ${callTo(url, ", system: Be brief., start: routed")} }
transitions: [{ from: copy, to: advise, on: failure }]
`);
    expect(run.report.status).toBe("completed");
    expect(askedIn(seen[0])).toMatch(
      /^What now\?\n\nwhy you are asked:\nThe step `copy` failed, and that is why this step runs.\n\nconstraints:\n- .*\n- .*\n\nearlier rounds:\n1. copy failed: EXIT_5, signature [0-9a-f]{10}\n\nDARUMA_FAILURE_ROUTE_CONTEXT v1\n/,
    );
    expect(askedIn(seen[0])).toContain("no space left on device");
    expect(seen[0]!.body.messages).toContainEqual({ role: "system", content: "Be brief." });
  });
});
