import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";
import { DarumaProcess, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

const cli = new CliFolder();
const FLOW = `
name: nightly
labels: { team: core }
steps:
  fetch: { exec: "true" }
  build: { exec: "echo 'disk full' >&2; exit 3", depends_on: [fetch] }
`;

interface Listed {
  readonly run_id: number;
  readonly labels: { readonly [key: string]: string };
}

const listed = async (...flags: string[]) =>
  (await cli.json<Listed[]>("list", ...flags)).value.map(({ run_id }) => run_id);

describe("searching on the command line", () => {
  it("finds runs and jobs by the labels they were started with, and shows them", {
    tags: ["S1", "S2"],
  }, async () => {
    const file = cli.write("nightly.yaml", FLOW);
    const run = (...flags: string[]) => cli.daruma("run", file, "--quiet", ...flags);
    expect((await run("--label", "env=prod", "--label", "note=a = b")).exitCode).toBe(1);
    expect((await run()).exitCode).toBe(1);
    expect(await listed("--label", "team=core")).toEqual([2, 1]);
    expect(await listed("--label", "env=prod,team")).toEqual([1]);
    expect(await listed("--label", "env", "--label", "note=a = b")).toEqual([1]);
    expect(await listed("--since", "1h", "--text", "exit code 3")).toEqual([2, 1]);
    expect(await listed("--until", "yesterday")).toEqual([]);
    expect(await listed("--limit", "1", "--before", "2", "--label", "team")).toEqual([1]);
    const { stdout } = await cli.daruma("show", "1");
    expect(stdout).toContain("  labels: env=prod, note=a = b, team=core\n");
    const table = (await cli.daruma("list")).stdout.split("\n");
    expect(table[0]).toMatch(/^run +status +workflow +created \(UTC\) +took +labels +what happened$/);
    expect(table[2]).toMatch(/env=prod, note=a = b, team=core +EXIT_3: build/);
    const jobs = await cli.json<{ run_id: number; step: string; error: { signature: string } }[]>(
      ...["jobs", "--label", "env=prod", "--text", "exit code 3"],
    );
    expect(jobs.value).toMatchObject([{ run_id: 1, step: "build" }]);
    const signature = jobs.value[0]!.error.signature.slice(0, 12);
    expect(await listed("--signature", signature)).toEqual([2, 1]);
    const forked = await cli.daruma("fork", "1", "--from", "build", "--label", "env=test", "--quiet");
    expect(forked.exitCode).toBe(1);
    expect(await listed("--label", "env=test,note,team=core")).toEqual([3]);
  });

  it("refuses what it cannot read, with what to write instead", { tags: ["S2"] }, async () => {
    const file = cli.write("nightly.yaml", FLOW);
    const refused = async (...args: string[]) => {
      const { exitCode, stderr } = await cli.daruma(...args);
      return [exitCode, stderr];
    };
    expect(await refused("run", file, "--label", "env")).toEqual([
      2,
      expect.stringContaining("--label env: key=value expected"),
    ]);
    expect(await refused("run", file, "--label", "e v=x")).toEqual([
      2,
      expect.stringContaining('"e v" is not allowed as the key of a label'),
    ]);
    expect(await refused("list", "--since", "tomorrow")).toEqual([
      2,
      expect.stringContaining(
        "It must be a time such as 2026-03-01, 2026-03-01T12:30Z, 2h (ago), today or yesterday.",
      ),
    ]);
    expect((await refused("list", "--signature", "'; DROP"))[0]).toBe(2);
  });

  it("finds the same through a server, over REST", { tags: ["S1", "S2"] }, async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = new DarumaProcess("server", [
      "serve",
      "--port",
      String(port),
      "--output-dir",
      cli.outputDir,
    ]);
    server.start();
    await untilReady(url, server);
    try {
      const started = await fetch(`${url}/api/v1/runs`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          source: "name: rest\nsteps: { a: { type: noop } }",
          labels: { interface: "rest" },
        }),
      });
      const { run_id } = (await started.json()) as { run_id: number };
      const ask = async (path: string) => {
        const answer = await fetch(`${url}/api/v1/${path}`);
        const { items } = (await answer.json()) as { items?: { run_id: number }[] };
        return [answer.status, items?.map((item) => item.run_id)];
      };
      expect(await ask("runs?label=interface%3Drest")).toEqual([200, [run_id]]);
      expect(await ask("runs?label=interface&since=1h&text=REST")).toEqual([200, [run_id]]);
      expect(await ask("jobs?label=interface")).toEqual([200, [run_id]]);
      expect(await ask("runs?label=env%3Dprod&text=100%25")).toEqual([200, []]);
      expect(await ask("runs?since=tomorrow")).toEqual([422, undefined]);
    } finally {
      await server.kill();
    }
  });
});
