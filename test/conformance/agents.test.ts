import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { filesIn, RealRuns } from "../support/real-run.js";

const runs = new RealRuns();
const SECRET = "hunter2-but-longer";
const env = { ...process.env, DEPLOY_TOKEN: SECRET };

/** Keeps what it is told, talks, and fails as often as it is asked to. */
const AGENT = `
const { appendFileSync, readFileSync, readdirSync, writeFileSync } = require("node:fs");
const [folder, failures, via, last] = process.argv.slice(2);
const told = via === "stdin" ? readFileSync(0, "utf8")
  : via === "file" ? readFileSync(process.env.DARUMA_PROMPT_FILE, "utf8") : last;
const attempt = readdirSync(folder).length + 1;
writeFileSync(folder + "/" + attempt + ".txt", told);
console.log("TRANSCRIPT of attempt " + attempt + " by process " + process.pid);
if (attempt <= Number(failures)) {
  console.error("EARLY NOISE " + "n".repeat(3000));
  console.error("the token is " + process.env.DEPLOY_TOKEN);
  console.error("cannot find module left-pad");
  process.exit(4);
}
writeFileSync(process.env.DARUMA_OUTPUT, JSON.stringify({ attempts: attempt }));
`;

let agent = "";
let count = 0;
beforeAll(() => {
  agent = runs.write("agent.cjs", AGENT);
});

/** A folder for what the agent is told, and the argv that leads there. */
function scripted(failures: number, via = "stdin"): { exec: string; prompts: () => string[] } {
  count += 1;
  const folder = join(runs.folder, `told-${count}`);
  const exec = JSON.stringify([process.execPath, agent, folder, String(failures), via]);
  return { exec, prompts: () => filesIn(folder).map((file) => readFileSync(file, "utf8")) };
}

const makeFolder = () => `mkdir -p told-${count}`;

describe("an agent step", () => {
  it.each(["stdin", "file", "argument"])(
    "is told objective, instructions and upstream outputs by %s",
    async (via) => {
      const { exec, prompts } = scripted(0, via);
      const run = await runs.run(`
name: green build
inputs: { area: { default: the parser } }
steps:
  plan: { exec: "${makeFolder()} && echo first the lexer" }
  mend: { type: agent, exec: ${exec}, prompt_via: ${via}, prompt: "Mend {{ inputs.area }}.", depends_on: [plan] }
`);
      expect(run.report.status).toBe("completed");
      expect(run.job("mend").output).toEqual({ attempts: 1 });
      const [told] = prompts();
      expect(told).toMatch(/^objective:\ngreen build\n\nstep: mend\n\ninstructions:\nMend the parser\.\n/);
      expect(told).toContain("DARUMA_UPSTREAM_CONTEXT v1");
      expect(told).toContain("first the lexer");
      expect(run.text(`j${run.job("mend").id}_a1.prompt.txt`)).toBe(told);
    },
  );

  it("is not told an output twice that its prompt names itself", async () => {
    const { exec, prompts } = scripted(0);
    await runs.run(`
name: once
steps:
  plan: { exec: "${makeFolder()} && echo first the lexer" }
  mend: { type: agent, exec: ${exec}, objective: Ship it, prompt: "Do this: {{ outputs.plan }}", depends_on: [plan] }
`);
    expect(prompts()[0]!.split("first the lexer")).toHaveLength(2);
    expect(prompts()[0]).toMatch(/^objective:\nShip it\n/);
  });

  it("gets the minimal retry context on its second attempt, never the transcript of the first", {
    tags: ["M3", "M16"],
  }, async () => {
    const { exec, prompts } = scripted(1);
    const run = await runs.run(
      `
name: green build
secrets: [DEPLOY_TOKEN]
steps:
  plan: { exec: "${makeFolder()} && echo with $DEPLOY_TOKEN" }
  mend:
    type: agent
    exec: ${exec}
    prompt: Mend the parser.
    depends_on: [plan]
    on_fail: { retry: { max: 1 } }
`,
      { env },
    );
    expect(run.report.status).toBe("completed");
    const [first, second] = prompts() as [string, string];
    expect(first).not.toContain("DARUMA_RETRY_CONTEXT");
    expect(second).toMatch(/^DARUMA_RETRY_CONTEXT v1\n/);
    for (const part of [
      "objective:\ngreen build\n",
      "instructions:\nMend the parser.\n",
      "- do not re-run unchanged remediation\n",
      "- if test harness instability is detected, isolate cause before editing product code\n",
      "failed_attempt: 1\n",
      "failure_signature: v2:",
      "code: EXIT_4\n",
      "cannot find module left-pad",
      "with [redacted:DEPLOY_TOKEN]",
    ])
      expect(second).toContain(part);
    expect(second).not.toMatch(/TRANSCRIPT|EARLY NOISE|last_command/);
    expect(/stderr, last (\d+) of/.exec(second)?.[1]).toBe("1000");

    const mend = run.job("mend").id;
    const manifest = JSON.parse(run.text(`j${mend}_a2.prompt.json`));
    expect(manifest.total_chars).toBe(second.length);
    expect(manifest.parts).toContainEqual(expect.objectContaining({ name: "retry.stderr", status: "cut" }));
    expect(manifest.parts).toContainEqual(
      expect.objectContaining({ name: "upstream.plan", status: "included" }),
    );
    expect(run.logs("mend")).toEqual(["a1.e", "a1.o", "a2.o"]);
    const processes = ["a1.o", "a2.o"].map(
      (log) => /by process (\d+)/.exec(run.text(`_j${mend}_r1_${log}`))?.[1],
    );
    expect(new Set(processes).size).toBe(2);
    const kept = filesIn(run.outputDir);
    for (const file of kept) expect(readFileSync(file).includes(SECRET), file).toBe(false);
    for (const text of [first, second]) expect(text).not.toContain(SECRET);
    for (const file of kept.filter((name) => name.includes(".prompt.")))
      expect(statSync(file).mode & 0o077).toBe(0);
  });

  it("finds in its prompt the failure that an edge has brought", { tags: ["A37"] }, async () => {
    const { exec, prompts } = scripted(0);
    const run = await runs.run(`
name: edge
steps:
  prepare: { exec: "${makeFolder()}" }
  test: { exec: "echo the parser is broken >&2; exit 3", depends_on: [prepare] }
  mend: { type: agent, exec: ${exec}, prompt: Repair it. }
transitions: [{ from: test, to: mend, on: failure }]
`);
    expect(run.report.status).toBe("completed");
    const [told] = prompts();
    expect(told).toContain(
      "step: mend\nround: 1\n\ninstructions:\nRepair it.\n\nwhy you are asked:\nThe step `test` failed, and that is why this step runs.\n\nconstraints:\n",
    );
    expect(told).toContain("\n\nDARUMA_FAILURE_ROUTE_CONTEXT v1\npolicy_version: 2\n");
    expect(told).toContain("source_node_key: test");
    expect(told).toContain("the parser is broken");
    expect(JSON.parse(run.text(`j${run.job("mend").id}_a1.prompt.json`)).parts).toContainEqual(
      expect.objectContaining({ name: "failure.stderr", status: "included" }),
    );
  });

  it("that goes silent is ended by its idle timeout and begun afresh", async () => {
    count += 1;
    const flag = join(runs.folder, `silent-${count}`);
    const run = await runs.run(`
name: silent
steps:
  mend:
    type: agent
    exec: "cat > told.txt; [ -e ${flag} ] && cat told.txt && exit 0; touch ${flag}; echo thinking; sleep 60"
    prompt: Mend it.
    idle_timeout_ms: 300
    on_fail: { retry: { max: 1 } }
`);
    expect(run.report.status).toBe("completed");
    const [failed] = await run.events("attempt.failed");
    expect(failed!.error).toMatchObject({
      code: "IDLE_TIMEOUT",
      class: "transient_runtime",
      action: "agent",
    });
    expect(run.job("mend").output).toContain("code: IDLE_TIMEOUT");
  });

  it("in a fan-out is told its own item", async () => {
    const run = await runs.run(`
name: items
steps:
  list: { type: noop, output: [alpha, beta], forEach: true }
  work: { type: agent, exec: cat, prompt: Do it., depends_on: [list] }
  all: { type: agent, exec: cat, prompt: Sum up., depends_on: [work], fanout: reduce }
`);
    const outputs = run.report.jobs.filter(({ step }) => step === "work").map(({ output }) => String(output));
    expect(outputs.map((text) => [text.includes("alpha"), text.includes("beta")])).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(run.job("all").output).toMatch(/alpha[\s\S]*beta/);
  });
});
