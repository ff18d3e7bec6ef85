import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CliFolder, RunningCli } from "../support/cli-folder.js";

const cli = new CliFolder();

const held = (then: string): string => `
name: waiting
unhandled: hold
hold: { expires: 3s, then: ${then} }
steps:
  disk: { type: command, exec: "echo full >&2; exit 4" }
  after: { type: command, exec: "echo got {{ outputs.disk | sh }}", depends_on: [disk] }
`;

interface Hold {
  due_at: string;
  expiry: { at: string; action: string; choice: string | null };
}

async function pass(at: string): Promise<void> {
  while (Date.now() <= Date.parse(at)) await delay(50);
}

describe("a hold that expires", () => {
  it("is told everywhere, and decided by resume when its time is up", { tags: ["C4"] }, async () => {
    const first = await cli.daruma("run", cli.write("waiting.yaml", held("skip")));
    expect(first.exitCode).toBe(3);
    expect(first.stdout).toMatch(/^ {2}decide by \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, then skip$/m);
    const { value: holds } = await cli.json<Hold[]>("holds");
    const { due_at, expiry } = holds[0]!;
    expect(expiry).toEqual({ at: due_at, action: "skip", choice: null });
    const { value: shown } = await cli.json<{ summary: { holds: Hold[] } }>("show", "1");
    expect(shown.summary.holds[0]!.expiry).toEqual(expiry);
    const { value: job } = await cli.json<Hold>("job", "show", "1", "disk");
    expect(job.expiry).toEqual(expiry);
    expect((await cli.daruma("job", "show", "1", "disk")).stdout).toContain(`due: ${due_at}, then skip\n`);
    expect((await cli.daruma("inbox")).stdout).toMatch(/\(skip at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)/);
    const { value: inbox } = await cli.json<{ items: Hold[] }>("inbox");
    expect(inbox.items[0]!.expiry).toEqual(expiry);
    await pass(due_at);
    const resumed = await cli.daruma("resume", "1");
    expect([resumed.exitCode, resumed.stderr]).toEqual([
      0,
      expect.stringContaining("disk: hold expired, skip: nobody decided within 3 s"),
    ]);
    const story = (await cli.daruma("explain", "1", "--full")).stdout;
    expect(story).toContain(`The step was held until a decision or until ${due_at}, then skip;`);
    expect(story).toContain("The hold expired (nobody decided within 3 s): it is skipped");
  });

  it("is taken up by a server that was killed and started again meanwhile", { tags: ["C4"] }, async () => {
    const home = join(cli.path, "server");
    const serve = async () => {
      const server = new RunningCli(["serve", "--port", "0", "--output-dir", home]);
      return { server, url: (await server.until(/listening at (\S+)/))[1]! };
    };
    const first = await serve();
    const body = JSON.stringify({ source: held("{ complete: emptied }") });
    const headers = { "content-type": "application/json" };
    await fetch(`${first.url}/api/v1/runs`, { method: "POST", headers, body });
    const statusOf = async (url: string) =>
      ((await (await fetch(`${url}/api/v1/runs/1`)).json()) as { status: string }).status;
    while ((await statusOf(first.url)) !== "held") await delay(50);
    first.server.kill("SIGKILL");
    await first.server.ended;
    const second = await serve();
    while ((await statusOf(second.url)) !== "completed") await delay(50);
    const answer = await fetch(`${second.url}/api/v1/runs/1/events?limit=1000`);
    const { items } = (await answer.json()) as { items: { type: string; expired?: boolean }[] };
    expect(items.filter(({ type }) => type === "hold.resolved")).toMatchObject([
      { action: "complete", expired: true },
    ]);
    second.server.kill("SIGTERM");
    await second.server.ended;
  });

  it("is refused where the step could not have such an output, with the place", async () => {
    const file = cli.write(
      "wrong.yaml",
      held("{ complete: 7 }").replace('exec: "echo full >&2; exit 4"', "exec: list, forEach: true"),
    );
    const { exitCode, stderr } = await cli.daruma("validate", file);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("wrong.yaml:4:7")]);
    expect(stderr).toContain(
      "a hold of `disk` cannot be completed so: the output of a forEach step is a list",
    );
  });
});
