import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ActionDefinition } from "../../core/model/definition.js";
import type { Outcome } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import { AGENT_PROFILES } from "../../file/fields/agent-fields.js";
import { createProcessHost } from "../process/create-process-host.js";
import type { Attempt } from "./action.js";
import { agentCommand, createAgentAction, PROFILES } from "./agent.js";

const host = createProcessHost();
const action = createAgentAction(host);
const PROMPT = `Say "hello", it's $HOME;\n\`exit 3\` {prompt_file} $& *`;
let folder: string;
let file: string;
let count = 0;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "daruma-agent-"));
  file = join(folder, "it's a prompt.txt");
  writeFileSync(file, PROMPT);
});
afterAll(async () => {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  readonly used: Outcome["used"];
  readonly result: Outcome<Json>;
  readonly stdout: string;
}

async function run(keys: Record<string, Json>, env: { [name: string]: string } = {}): Promise<Ran> {
  count += 1;
  let stdout = "";
  const attempt: Attempt = {
    runId: 1,
    workflowId: 1,
    jobId: 10_000_001,
    stepId: "mend",
    attempt: 1,
    token: `agent-test-${process.pid}-${count}`,
    action: { type: "agent", prompt: "as written", ...keys } as ActionDefinition,
    env: {
      PATH: process.env.PATH!,
      DARUMA_OUTPUT: join(folder, `${count}.output`),
      DARUMA_FAILURE: join(folder, `${count}.failure`),
      ...env,
    },
    cwd: folder,
    variables: {},
    startedAt: 0,
    timeoutMs: null,
    idleTimeoutMs: null,
    killGraceMs: 1_000,
    writeStdout: (chunk) => {
      stdout += Buffer.from(chunk).toString();
    },
    writeStderr: () => {},
    prompt: { text: PROMPT, system: null, file },
    outputFile: join(folder, `${count}.output`),
    failureFile: join(folder, `${count}.failure`),
    signal: new AbortController().signal,
  };
  // What its processes used differs from time to time.
  const { used, ...result } = await action.run(attempt);
  return { result, used, stdout };
}

const program = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o755 });
  return path;
};

describe("an agent gets its prompt", () => {
  it.each([
    ["on its standard input by default", { exec: "cat" }],
    ["on its standard input, as a list", { exec: ["cat"], prompt_via: "stdin" }],
    ["in a file, by its variable", { exec: 'cat "$DARUMA_PROMPT_FILE"', prompt_via: "file" }],
    ["in a file, by a mark in a list", { exec: ["cat", "{prompt_file}"], prompt_via: "file" }],
    ["in a file, by a mark in a shell line", { exec: "cat {prompt_file}", prompt_via: "file" }],
    ["in a file, by a mark in quotes", { exec: 'cat "{prompt_file}"', prompt_via: "file" }],
    ["as its last argument", { exec: ["printf", "%s"], prompt_via: "argument" }],
    ["as its last argument in a shell line", { exec: "printf %s", prompt_via: "argument" }],
    [
      "as an argument where the mark stands",
      { exec: ["printf", "%s%s", "{prompt}", ""], prompt_via: "argument" },
    ],
    ["as a word of a shell line", { exec: "printf %s {prompt} && true", prompt_via: "argument" }],
    ["as a word in quotes", { exec: "printf %s '{prompt}'; true", prompt_via: "argument" }],
  ])("%s", async (_, keys) => {
    const { result, stdout } = await run(keys as Record<string, Json>);
    expect(result).toMatchObject({ kind: "succeeded" });
    expect(stdout).toBe(PROMPT);
  });

  it("and nothing on its standard input where it comes another way", async () => {
    expect((await run({ exec: "wc -c", prompt_via: "file" })).stdout.trim()).toBe("0");
  });

  it("without a NUL, which no argument can hold", () => {
    const { exec } = agentCommand(
      { type: "agent", exec: ["a"], prompt_via: "argument" },
      { text: "x\0y", system: null, file },
    );
    expect(exec).toEqual(["a", "x\ufffdy"]);
  });
});

describe("an agent is a command", () => {
  it("whose output is what it wrote to $DARUMA_OUTPUT", async () => {
    const { result } = await run({ exec: `echo '{"done":3}' > "$DARUMA_OUTPUT"; echo talk` });
    expect(result).toEqual({ kind: "succeeded", output: { done: 3 }, exitedAt: expect.any(Number) });
  });

  it("that may declare its failure", async () => {
    const { result } = await run({ exec: `echo '{"code":"STUCK"}' > "$DARUMA_FAILURE"; exit 2` });
    expect(result).toMatchObject({ kind: "failed", facts: { exitCode: 2, declared: { code: "STUCK" } } });
  });
});

describe("a profile", () => {
  it.each(AGENT_PROFILES)("of %s brings the prompt to the program in the way it asks for", (name) => {
    const { argv, promptVia } = PROFILES[name];
    const prompt = { text: PROMPT, system: null, file };
    const { exec, stdin } = agentCommand({ type: "agent", profile: name }, prompt);
    expect(exec[0]).toBe(name);
    const handed = { stdin: stdin === PROMPT, file: exec.includes(file), argument: exec.includes(PROMPT) };
    expect(handed).toEqual({ stdin: false, file: false, argument: false, [promptVia]: true });
    expect(argv[0]).toBe(name);
  });

  it("runs the program of its name and takes its answer out of the transcript", async () => {
    program(
      "claude",
      `#!/bin/sh\necho '{"type":"system"}'\ncat > got.txt\necho '{"type":"result","result":"mended"}'\n`,
    );
    const { result, used, stdout } = await run(
      { profile: "claude" },
      { PATH: `${folder}:${process.env.PATH}` },
    );
    expect(result).toEqual({ kind: "succeeded", output: "mended", exitedAt: expect.any(Number) });
    if (process.platform === "linux") expect(used).toBeDefined();
    expect(stdout).toContain('{"type":"system"}');
    expect(readFileSync(join(folder, "got.txt"), "utf8")).toBe(PROMPT);
  });

  it("keeps what the program wrote to $DARUMA_OUTPUT instead", async () => {
    program("claude", `#!/bin/sh\necho 5 > "$DARUMA_OUTPUT"\necho '{"type":"result","result":"mended"}'\n`);
    const { result } = await run({ profile: "claude" }, { PATH: `${folder}:${process.env.PATH}` });
    expect(result).toEqual({ kind: "succeeded", output: 5, exitedAt: expect.any(Number) });
  });

  it("sets variables that the step has not set, and lets exec replace its command line", async () => {
    const { stdout } = await run({ profile: "goose", exec: "echo $GOOSE_MODE" });
    expect(stdout).toBe("auto\n");
    expect((await run({ profile: "goose", exec: "echo $GOOSE_MODE" }, { GOOSE_MODE: "chat" })).stdout).toBe(
      "chat\n",
    );
  });

  it("says what may be missing when the program fails or is not there", async () => {
    const absent = await run({ profile: "opencode" }, { PATH: join(folder, "nothing") });
    expect(absent.result).toMatchObject({
      facts: {
        code: "SPAWN_ERROR",
        message: expect.stringContaining("is opencode installed and in PATH?"),
      },
    });
    const keyless = await run({ profile: "codex", exec: "exit 1" });
    expect(keyless.result).toMatchObject({
      facts: { message: "exit code 1 (not set: CODEX_API_KEY, OPENAI_API_KEY)" },
    });
    const keyed = await run({ profile: "codex", exec: "exit 1" }, { OPENAI_API_KEY: "k" });
    expect(keyed.result).toMatchObject({ facts: { message: "exit code 1" } });
  });
});
