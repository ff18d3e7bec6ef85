import { createHmac, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type LiveServer, LiveServers } from "../support/live-server.js";

const SECRET = "hook-secret-7c1f0e9a2b";
const MAX_BODY_BYTES = 1024 * 1024;
const servers = new LiveServers({ perFile: true });
let server: LiveServer;
const told: string[] = [];

beforeAll(async () => {
  server = await servers.start({
    env: { ...process.env, HOOK_SECRET: SECRET },
    onCluster: (text) => told.push(text),
  });
});

interface Answered {
  readonly status: number;
  readonly body: { readonly run_id?: number | null; readonly code?: string; readonly detail?: string };
}

async function send(
  workflow: string,
  body: string | Buffer,
  headers: Record<string, string>,
): Promise<Answered> {
  const response = await fetch(`${server.url}/hooks/${encodeURIComponent(workflow)}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return { status: response.status, body: (await response.json()) as Answered["body"] };
}

function github(body: string | Buffer, { secret = SECRET, event = "push" } = {}): Record<string, string> {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  return { "x-hub-signature-256": `sha256=${signature}`, "x-github-event": event };
}

function standard(
  body: string,
  { id = `msg_${randomUUID()}`, at = Date.now(), secret = SECRET, before = "" } = {},
): Record<string, string> {
  const seconds = String(Math.floor(at / 1_000));
  const signature = createHmac("sha256", secret).update(`${id}.${seconds}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": `${before}v1,${signature}` };
}

async function publish(name: string, webhook: string | null, more = ""): Promise<void> {
  const triggers = webhook === null ? "" : `triggers: { webhook: ${webhook} }\n`;
  const source = `name: ${name}\n${triggers}inputs: { ref: { type: string, default: main }, count: { type: number, default: 1 } }\n${more || "steps: { a: { type: noop } }"}\n`;
  await server.ask("PUT", `/api/v1/workflows/${inPath(name)}/draft`, { body: { source } });
  const { status, body } = await server.ask("POST", `/api/v1/workflows/${inPath(name)}/publish`, {
    body: {},
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
}

const inPath = (name: string): string => encodeURIComponent(name);

const runsOf = async (workflow: string) => server.running.store.listRuns({ workflow });

describe("a webhook of GitHub's form", () => {
  const webhook = `{ secret: HOOK_SECRET, form: github, when: "event === 'push' && body.ref !== 'skip'", inputs: { ref: "{{ body.ref }}", count: "{{ body.count }}" } }`;

  it("sent twenty times at once, starts one run, says so to one sender, and uses up one number", {
    tags: ["K8"],
  }, async () => {
    await publish("burst", webhook);
    const body = JSON.stringify({ ref: "burst", count: 1 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => send("burst", body, github(body))));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
    const [run] = await runsOf("burst");
    expect(new Set(answers.map(({ body: { run_id } }) => run_id))).toEqual(new Set([run!.id]));
    expect(await server.running.store.reserveRunId()).toBe(run!.id + 1);
  });

  it("starts a run with inputs from the request; the same request again is the same run", {
    tags: ["K6", "K8"],
  }, async () => {
    await publish("push", webhook);
    const body = JSON.stringify({ ref: "feature", count: 3, more: "not kept 5e1f" });
    const first = await send("push", body, github(body));
    expect(first).toEqual({ status: 201, body: { run_id: expect.any(Number) } });
    const again = await Promise.all(Array.from({ length: 5 }, () => send("push", body, github(body))));
    for (const each of again) expect(each).toEqual({ status: 200, body: first.body });
    const run = await server.running.store.readRun(first.body.run_id!);
    expect(run).toMatchObject({ inputs: { ref: "feature", count: 3 }, managed: true });
    expect(run!.cause).toMatch(/^webhook\/push\/[0-9a-f]{64}$/);
    expect(await server.until(first.body.run_id!, "completed")).toBe("completed");
    const other = JSON.stringify({ ref: "feature", count: 4 });
    expect((await send("push", other, github(other))).body.run_id).not.toBe(first.body.run_id);
  });

  it("answers 202 where `when` is false, and starts nothing", { tags: ["K8"] }, async () => {
    await publish("quiet", webhook);
    const [skip, push] = [
      { ref: "skip", count: 1 },
      { ref: "x", count: 1 },
    ].map((each) => JSON.stringify(each)) as [string, string];
    expect(await send("quiet", skip, github(skip))).toEqual({ status: 202, body: { run_id: null } });
    expect(await send("quiet", push, github(push, { event: "ping" }))).toMatchObject({ status: 202 });
    expect(await runsOf("quiet")).toEqual([]);
  });

  it("refuses inputs of the wrong type, missing fields, and what is no JSON", { tags: ["K8"] }, async () => {
    await publish("strict", webhook);
    const codes: [string, number, string][] = [
      [JSON.stringify({ ref: "x", count: "many" }), 422, "INVALID_INPUT"],
      [JSON.stringify({ ref: "x" }), 422, "TEMPLATE_ERROR"],
      [JSON.stringify({ ref: "ghp_0123456789abcdefghijABCDEFGHIJ012345", count: 1 }), 422, "INVALID_INPUT"],
      ["payload=%7B%7D", 400, "MALFORMED_REQUEST"],
      ["[".repeat(300) + "]".repeat(300), 400, "MALFORMED_REQUEST"],
      ['{"__proto__": {"ref": "x"}}', 400, "MALFORMED_REQUEST"],
    ];
    for (const [body, status, code] of codes)
      expect(await send("strict", body, github(body))).toMatchObject({ status, body: { code } });
    expect(await runsOf("strict")).toEqual([]);
  });

  it("refuses a wrong signature and an unknown workflow in the same way", { tags: ["K6"] }, async () => {
    await publish("known", webhook);
    const body = "{}";
    const forged = await send("known", body, github(body, { secret: "guess" }));
    expect(forged.status).toBe(401);
    for (const headers of [github(body), github(body, { secret: "guess" }), standard(body), {}])
      expect(await send("unknown", body, headers)).toEqual(forged);
    // Neither does the other form, an unsigned request, nor a name that no workflow can have.
    for (const headers of [standard(body), {}]) expect(await send("known", body, headers)).toEqual(forged);
    for (const name of ["a\u0000b", "x".repeat(900), "../known"])
      expect(await send(name, body, github(body))).toEqual(forged);
    expect(await send("known", "{} ", github(body))).toEqual(forged);
  });

  it("takes no more than 1 MB, and that much", { tags: ["K6"] }, async () => {
    await publish("large", webhook);
    const fits = JSON.stringify({ ref: "skip", count: 1, pad: "" });
    const whole = fits.replace('""', `"${"x".repeat(MAX_BODY_BYTES - fits.length)}"`);
    expect(Buffer.byteLength(whole)).toBe(MAX_BODY_BYTES);
    expect(await send("large", whole, github(whole))).toMatchObject({ status: 202 });
    const more = `${whole} `;
    expect(await send("large", more, github(more))).toMatchObject({ status: 413 });
  });
});

describe("a webhook of the standard form", () => {
  const webhook = `{ secret: HOOK_SECRET, inputs: { ref: "{{ body.ref }}" } }`;

  it("starts a run once for each signed id, whatever else is signed with it", {
    tags: ["K6", "K8"],
  }, async () => {
    await publish("standard", webhook);
    const body = JSON.stringify({ ref: "one" });
    const first = await send("standard", body, standard(body, { id: "msg_1", before: "v1,AAAA v1a,x " }));
    expect(first.status).toBe(201);
    expect((await server.running.store.readRun(first.body.run_id!))!.cause).toBe("webhook/standard/msg_1");
    const other = JSON.stringify({ ref: "two" });
    expect(await send("standard", other, standard(other, { id: "msg_1" }))).toEqual({
      status: 200,
      body: first.body,
    });
    expect((await send("standard", body, standard(body, { id: "msg_2" }))).status).toBe(201);
  });

  it("counts ids for each workflow by itself, also where a name holds a slash", {
    tags: ["K8"],
  }, async () => {
    await publish("team", webhook);
    await publish("team/deploy", webhook);
    const body = JSON.stringify({ ref: "x" });
    const team = await send("team", body, standard(body, { id: "deploy/1" }));
    const deploy = await send("team/deploy", body, standard(body, { id: "1" }));
    expect([team.status, deploy.status]).toEqual([201, 201]);
    expect(await runsOf("team/deploy")).toMatchObject([{ id: deploy.body.run_id }]);
  });

  it("refuses what is older than five minutes, or signed for later", { tags: ["K6"] }, async () => {
    await publish("timely", webhook);
    const body = JSON.stringify({ ref: "x" });
    for (const off of [-302_000, 302_000])
      expect((await send("timely", body, standard(body, { at: Date.now() + off }))).status).toBe(401);
    expect((await send("timely", body, github(body))).status).toBe(401);
    expect(await runsOf("timely")).toEqual([]);
  });

  it("the newest published version counts, and one without a webhook takes nothing", {
    tags: ["K8"],
  }, async () => {
    await publish("changing", webhook);
    const body = JSON.stringify({ ref: "x" });
    expect((await send("changing", body, standard(body))).status).toBe(201);
    await publish("changing", null);
    expect((await send("changing", body, standard(body))).status).toBe(401);
  });

  it("without its secret the server refuses everything and says so once in its log", {
    tags: ["K6"],
  }, async () => {
    await publish("secretless", `{ secret: NOT_SET_ANYWHERE }`);
    for (const secret of ["", "undefined", SECRET])
      expect((await send("secretless", "{}", standard("{}", { secret }))).status).toBe(401);
    expect(told.filter((text) => text.includes("secretless"))).toEqual([
      "the webhook of secretless refuses every request: the variable NOT_SET_ANYWHERE is empty or missing",
    ]);
  });

  it("a secret may be in a file", { tags: ["K8"] }, async () => {
    const file = join(server.outputDir, "hook.secret");
    writeFileSync(file, "from a file 91\n");
    await publish("filed", `{ secret: { file: ${file} } }`);
    expect((await send("filed", "{}", standard("{}", { secret: "from a file 91" }))).status).toBe(201);
  });
});

describe("a hostile expression", () => {
  it.each([
    ["while (true) {}", "EXPRESSION_"],
    ["let a = 'x'; while (true) a += a", "EXPRESSION_"],
    ["throw new Error('no')", "EXPRESSION_"],
    ["return body.pull.request", "EXPRESSION_"],
    ["return this.constructor.constructor('return process')().exit(1)", "EXPRESSION_"],
  ])("%s is refused and hurts nobody", { tags: ["K8"] }, async (code, refusal) => {
    await publish("hostile", `{ secret: HOOK_SECRET, when: ${JSON.stringify(code)} }`);
    const answer = await send("hostile", "{}", standard("{}"));
    expect([answer.status, answer.body.code?.startsWith(refusal)]).toEqual([422, true]);
    expect(await runsOf("hostile")).toEqual([]);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});

it("neither the secret nor the rest of a request is on record, even if a step prints the secret", {
  tags: ["K8"],
}, async () => {
  await publish(
    "leaky",
    `{ secret: HOOK_SECRET, inputs: { ref: "{{ body.ref }}" } }`,
    "steps: { a: { exec: 'echo $HOOK_SECRET; exit 1' } }",
  );
  const body = JSON.stringify({ ref: "kept-3d9a", other: "not-kept-77b0" });
  const { body: answer } = await send("leaky", body, standard(body));
  await server.until(answer.run_id!, "failed");
  const texts = filesIn(server.outputDir)
    .filter((file) => !file.endsWith("hook.secret"))
    .map((file) => readFileSync(file, "latin1"));
  expect(texts.some((text) => text.includes("kept-3d9a"))).toBe(true);
  for (const text of texts) {
    expect(text.includes(SECRET)).toBe(false);
    expect(text.includes("not-kept-77b0")).toBe(false);
  }
});

it("needs no token where others need one, and wrong signatures are counted", {
  tags: ["K6", "K8"],
}, async () => {
  await publish("guarded", `{ secret: HOOK_SECRET }`);
  await server.tokens();
  expect((await server.ask("GET", "/api/v1/runs")).status).toBe(401);
  expect((await send("guarded", "{}", standard("{}"))).status).toBe(201);
  const statuses = new Set<number>();
  for (let n = 0; n < 70; n += 1) statuses.add((await send("guarded", "{}", {})).status);
  expect(statuses).toEqual(new Set([401, 429]));
  expect((await send("guarded", "{}", standard("{}"))).status).toBe(201);
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}
