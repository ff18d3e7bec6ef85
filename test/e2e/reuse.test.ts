import { createHash } from "node:crypto";
import { readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { CliFolder, type Report } from "../support/cli-folder.js";
import { HANG_MS } from "../support/hang.js";
import { LiveServers } from "../support/live-server.js";

const LEVELS = 25;
const WIDTH = 20;
const JOBS = LEVELS * WIDTH;
const LONG = { timeout: HANG_MS, interval: 20 };
/** Where a file of its own is read in the middle of the graph. */
const MIDDLE = { level: 12, place: 5 };

const cli = new CliFolder();
const servers = new LiveServers();
const nameOf = (level: number, place: number): string => `j${level}_${place}`;

/** What a job reads: two files of the level before, at the first level a source, in the middle one more. */
function inputsOf(level: number, place: number): string[] {
  const extra = level === MIDDLE.level && place === MIDDLE.place ? ["extra.txt"] : [];
  if (level === 0) return [`source-${place}.txt`];
  const before = [place, (place + 1) % WIDTH].map((each) => `${nameOf(level - 1, each)}.out`);
  return [...before, ...extra];
}

function everyJob<T>(of: (level: number, place: number) => T): T[] {
  return Array.from({ length: JOBS }, (_, index) => of(Math.floor(index / WIDTH), index % WIDTH));
}

function workflowText(): string {
  const steps = everyJob((level, place): [string, object] => {
    const name = nameOf(level, place);
    const inputs = inputsOf(level, place);
    const exec = `echo ${name} >> ran; cat ${inputs.join(" ")} | md5sum > ${name}.out`;
    return [name, { exec, files: { inputs, outputs: [`${name}.out`] } }];
  });
  return JSON.stringify({ name: "grid", steps: Object.fromEntries(steps) });
}

/** What the files must hold in the end, computed here. */
function expectedContents(): Map<string, string> {
  const contents = new Map<string, string>();
  const read = (file: string): string => contents.get(file) ?? readFileSync(join(cli.path, file), "utf8");
  everyJob((level, place) => {
    const text = inputsOf(level, place).map(read).join("");
    contents.set(`${nameOf(level, place)}.out`, `${createHash("md5").update(text).digest("hex")}  -\n`);
  });
  return contents;
}

function expectContents(): void {
  const wrong = [...expectedContents()].filter(
    ([file, text]) => readFileSync(join(cli.path, file), "utf8") !== text,
  );
  expect(wrong).toEqual([]);
}

/** A job and all that come after it. */
function withDescendants(level: number, place: number): string[] {
  const found = [new Set([place])];
  for (let at = level + 1; at < LEVELS; at += 1)
    found.push(new Set([...found.at(-1)!].flatMap((each) => [each, (each + WIDTH - 1) % WIDTH])));
  return found.flatMap((places, index) => [...places].map((each) => nameOf(level + index, each))).sort();
}

const ranFile = (): string => join(cli.path, "ran");
/** Each job that ran since, once. */
function ran(): string[] {
  const lines = new Set(readFileSync(ranFile(), "utf8").trim().split("\n").filter(Boolean));
  writeFileSync(ranFile(), "");
  return [...lines].sort();
}

interface Difference {
  readonly from_run: number;
  readonly take_over: number;
  readonly run: number;
}

/** So many jobs have begun when it is killed. `.ci/run --all` kills more often, as in test/chaos. */
const KILL_AFTER = process.env.KILLS === undefined ? [0, 10] : [0, 1, 10, 50];

describe("a graph of 500 jobs and their files", () => {
  const file = (): string => join(cli.path, "grid.yaml");
  const difference = async (): Promise<Difference> =>
    (await cli.json<Difference>("run", file(), "--reuse", "--dry-run")).value;

  beforeAll(async () => {
    cli.write("grid.yaml", workflowText());
    cli.write("extra.txt", "first\n");
    cli.write("ran", "");
    for (let place = 0; place < WIDTH; place += 1) cli.write(`source-${place}.txt`, `${place}\n`);
    const { exitCode } = await cli.daruma("run", file(), "--quiet");
    expect(exitCode).toBe(0);
    expect(ran()).toHaveLength(JOBS);
    expectContents();
  }, 240_000);

  it("runs nothing after a touch without a change", async () => {
    for (const each of ["extra.txt", "source-0.txt", "j3_3.out", "j24_0.out"])
      utimesSync(join(cli.path, each), 1_000_000_000, 1_000_000_000);
    expect(await difference()).toMatchObject({ take_over: JOBS, run: 0 });
    const { stdout, stderr } = await cli.daruma("run", file(), "--reuse");
    expect(stdout).toMatch(/^✓ run \d+ of grid completed in .*: 500 completed \(500 taken over\)\n$/);
    expect(stderr).toMatch(/run \d+ takes over 500 jobs from run 1; the rest runs\n/);
    expect(ran()).toEqual([]);
  });

  it("runs exactly the descendants of a file that has changed in the middle", { tags: ["R3"] }, async () => {
    cli.write("extra.txt", "second\n");
    const expected = withDescendants(MIDDLE.level, MIDDLE.place);
    expect(await difference()).toMatchObject({ take_over: JOBS - expected.length, run: expected.length });
    const told = await cli.daruma("run", file(), "--reuse", "--dry-run");
    expect(told.stdout).toMatch(
      /^compared with run \d+: 409 of 500 jobs taken over, 91 to run\n {2}j12_5: the input file extra\.txt has changed\n {2}90 follow from these: j13_4, j13_5, .* and 84 more\n$/,
    );
    expect((await cli.daruma("run", file(), "--reuse", "--quiet")).exitCode).toBe(0);
    expect(ran()).toEqual(expected);
    expectContents();
  });

  it("runs exactly the maker of an output that was removed, and what comes after it", async () => {
    rmSync(join(cli.path, "j20_7.out"));
    expect((await cli.daruma("run", file(), "--reuse", "--quiet")).exitCode).toBe(0);
    expect(ran()).toEqual(withDescendants(20, 7));
    expectContents();
  });

  it("killed with -9 at any time and resumed ends as if nothing had happened", {
    tags: ["R6"],
    timeout: 300_000,
  }, async () => {
    const expected = withDescendants(MIDDLE.level, MIDDLE.place);
    for (const [index, begun] of KILL_AFTER.entries()) {
      cli.write("extra.txt", `killed ${index}\n`);
      const running = cli.start("run", file(), "--reuse");
      // The first time at once, then when so many jobs have begun.
      if (begun > 0)
        await expect
          .poll(() => readFileSync(ranFile(), "utf8").split("\n").length, LONG)
          .toBeGreaterThan(begun);
      running.kill("SIGKILL");
      expect(await running.ended).toBe("SIGKILL");
      const last = (await cli.json<Report>("show", "last")).value;
      if (last.status === "running") expect((await cli.resume(last.run_id)).report.status).toBe("completed");
      // Killed before it was on record: nothing was taken over, and nothing has run.
      else if (last.status === "completed" && (await difference()).run > 0)
        expect((await cli.daruma("run", file(), "--reuse", "--quiet")).exitCode).toBe(0);
      expect(ran()).toEqual(expected);
      expectContents();
      expect(await difference()).toMatchObject({ take_over: JOBS, run: 0 });
    }
  });
});

describe("daruma run --reuse", () => {
  it("refuses a word that is no run, and names the file's place", async () => {
    const { exitCode, stderr } = await cli.daruma("run", "--reuse", cli.write("word.yaml", "steps: {}"));
    expect(exitCode).toBe(2);
    expect(stderr).toContain("Put the workflow file before --reuse.");
  });

  it("says that there is no run to take over from", async () => {
    const file = cli.write("lone.yaml", "name: lone\nsteps: { a: { exec: 'true' } }");
    const { stderr } = await cli.daruma("run", file, "--reuse");
    expect(stderr).toContain("has no ended run of lone to take over from; everything runs\n");
    expect((await cli.daruma("explain", "last", "a")).stdout).not.toContain("taken over");
    await cli.daruma("run", file, "--reuse");
    expect((await cli.daruma("show", "last")).stdout).toMatch(/a +completed \(taken over\) +0/);
    expect((await cli.daruma("explain", "last")).stdout).toMatch(
      /It took over 1 job from run \d+, for which nothing had changed\./,
    );
    expect((await cli.daruma("explain", "last", "a")).stdout).toMatch(
      /It was taken over from run \d+, attempt 1, and did not run again\./,
    );
    expect((await cli.daruma("job", "show", "last", "a")).stdout).toMatch(
      /taken over from run \d+, attempt 1\n$/,
    );
    expect((await cli.daruma("events", "last")).stdout).toMatch(/job\.reused +a, from run \d+, attempt 1/);
  });
});

describe("the obvious command after a failure", () => {
  it("daruma run FILE --reuse runs what the failed run lacks", { tags: ["R7"] }, async () => {
    const text = "name: again\nsteps: { a: { exec: 'true' }, b: { exec: 'test -e mended', depends_on: a } }";
    const file = cli.write("again.yaml", text);
    expect((await cli.daruma("run", file)).exitCode).toBe(1);
    cli.write("mended", "");
    const { exitCode, stdout } = await cli.daruma("run", file, "--reuse");
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("2 completed (1 taken over)")]);
  });

  it("is not offered where a change of what was read would not be seen, and is then told of", async () => {
    const text = "name: blind\nsteps: { a: { exec: 'true' }, b: { exec: 'test -e seen', depends_on: a } }";
    const file = cli.write("blind.yaml", text);
    const failed = await cli.daruma("run", file);
    expect([failed.exitCode, failed.stdout]).toEqual([1, expect.not.stringContaining("--reuse")]);
    cli.write("seen", "");
    const { stderr } = await cli.daruma("run", file, "--reuse", "--quiet");
    expect(stderr).toMatch(
      /^1 step was taken over from run \d+; 1 of them names no input files, so changes of what they read are not seen\n$/,
    );
    cli.write("source.txt", "");
    const named = text.replace("blind", "named").replace("'true'", "'true', files: { inputs: [source.txt] }");
    const other = cli.write("named.yaml", named.replace("-e seen", "-e later"));
    expect((await cli.daruma("run", other)).stdout).toMatch(/ run .*named\.yaml --reuse/);
    cli.write("later", "");
    expect((await cli.daruma("run", other, "--reuse", "--quiet")).stderr).toBe("");
  });

  it("says first that the run it takes over from is held", { tags: ["R7"] }, async () => {
    const text = "name: kept\nunhandled: hold\nsteps: { a: { exec: 'true' }, b: { exec: 'exit 1' } }";
    const file = cli.write("kept.yaml", text);
    expect((await cli.daruma("run", file)).exitCode).toBe(3);
    const { stderr } = await cli.daruma("run", file, "--reuse");
    expect(stderr).toMatch(
      /^run (\d+) of kept is held and stays so; to decide it instead: daruma holds \1.*\n[\s\S]*takes over 1 job from run/,
    );
    const parent = cli.write(
      "above.yaml",
      "name: above\nsteps: { c: { type: workflow, file: kept.yaml }, d: { exec: 'true' } }",
    );
    expect((await cli.daruma("run", parent)).exitCode).toBe(3);
    const again = await cli.daruma("run", parent, "--reuse");
    const [, above, child] =
      /^run (\d+) of above is held and stays so; to decide it instead: daruma holds (\d+)/.exec(
        again.stderr,
      ) ?? [];
    expect(Number(child)).toBe(Number(above) + 1);
  });
});

describe("through a server", () => {
  it("the command line, REST and a dry run take over from the last run of the same name there", {
    tags: ["R6"],
  }, async () => {
    const { url, ask } = bound(await servers.start());
    const text = "name: served\nsteps: { a: { exec: 'echo a' }, b: { exec: 'echo b', depends_on: a } }";
    const file = cli.write("served.yaml", text);
    const daruma = (...args: string[]) => cli.daruma(...args, "--server", url);
    expect((await daruma("run", file)).exitCode).toBe(0);
    expect((await daruma("run", file, "--reuse", "-n")).stdout).toBe(
      "compared with run 1: 2 of 2 jobs taken over, 0 to run\n",
    );
    expect((await daruma("run", file, "--reuse")).stdout).toMatch(/2 completed \(2 taken over\)/);
    const request = { source: text.replace("echo b", "echo c"), folder: cli.path, reuse: "last_ended" };
    const planned = await ask("POST", "/api/v1/runs/diff", { body: request });
    expect(planned.body).toMatchObject({ from_run: 2, take_over: 1, run: 1 });
    const started = await ask<{ run_id: number }>("POST", "/api/v1/runs", { body: request });
    expect(started.status).toBe(201);
    const shown = () => ask<Report & { taken_over: object }>("GET", `/api/v1/runs/${started.body.run_id}`);
    await expect.poll(async () => (await shown()).body.status).toBe("completed");
    expect((await shown()).body.taken_over).toEqual({ run_id: 2, jobs: 1 });
    const refused = await ask("POST", "/api/v1/runs", { body: { ...request, only: "a" } });
    expect([refused.status, refused.body]).toMatchObject([422, { code: "INVALID_INPUT" }]);
  });
});

function bound(server: Awaited<ReturnType<LiveServers["start"]>>) {
  return { url: server.url, ask: server.ask.bind(server) as typeof server.ask };
}
