import { beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";
import { HANG_MS } from "../support/hang.js";

const cli = new CliFolder();
const FAMILY = "train_{i:03d}";

/** 300 jobs of which 21 fail in three ways, the same each time but for numbers and names of files. */
const SWEEP = `name: sweep
jobs:
  - name: ${FAMILY}
    parameters: { i: "1:300" }
    command: |
      test -e mended && exit 0
      case $(( {i} % 43 )) in
        7) echo "loss is NaN at step {i}" >&2; exit 3;;
        14) echo "cannot allocate {i} MiB" >&2; exit 4;;
        21) echo "part-{i}.csv: no such file" >&2; exit 5;;
      esac
  - name: sum
    command: "true"
    depends_on_regexes: ["train_.*"]
`;
const run = (...args: string[]) => runCli([...args, "--output-dir", cli.outputDir], {}, cli.path);

describe("a sweep of 300 jobs in the batch form of which 7 % fail in three ways", () => {
  let end = "";

  beforeAll(async () => {
    cli.write("sweep.yaml", SWEEP);
    const { stdout, exitCode } = await run("run", "sweep.yaml", "--quiet");
    expect(exitCode).toBe(3);
    end = stdout;
  }, HANG_MS);

  it("ends with each of them once", () => {
    const lines = end.split("\n").slice(1, 10);
    expect(lines.filter((line) => line.includes(" is held after 1 attempt: "))).toHaveLength(3);
    expect(lines.slice(0, 3)).toEqual([
      "train_007 (run 1, job 10000007) is held after 1 attempt: exit code 3 (EXIT_3, application)",
      "  so are train_050, train_093, train_136, train_179, train_222, train_265",
      "  | loss is NaN at step 7",
    ]);
  });

  it("is one problem of the inbox with its three kinds, and one row for each in the failure book", async () => {
    const inbox = (await run("inbox")).stdout.split("\n");
    expect(inbox[1]).toMatch(
      /^hold +1 +1 step +sweep\/train_\{i:03d\} .* 21 items failed in 3 ways \(train_\d+, train_\d+, train_\d+ and 18 more\)$/,
    );
    expect(inbox.slice(2, 5).map((line) => line.replace(/^.* {2}(?=\d items)/, ""))).toEqual([
      expect.stringMatching(/^7 items: EXIT_\d: /),
      expect.stringMatching(/^7 items: EXIT_\d: /),
      expect.stringMatching(/^7 items: EXIT_\d: /),
    ]);
    expect(inbox.slice(5)).toEqual([
      "",
      `decide them:  daruma resolve 1 '${FAMILY}' --retry --reason "..." --output-dir ${cli.outputDir}`,
      "",
    ]);
    const { value } = await cli.json<{ items: { step: string; occurrences: number; runs: number }[] }>(
      "failures",
    );
    expect(value.items.map(({ step, occurrences, runs }) => [step, occurrences, runs])).toEqual(
      Array(3).fill([FAMILY, 7, 1]),
    );
  });

  it("is shown in a row for each way that they went, and one by one with --full", async () => {
    const { stdout } = await run("show", "1");
    const rows = stdout.split("\n").filter((line) => line.includes(` items of ${FAMILY} `));
    expect(rows.map((row) => row.trim().replace(/ +/g, " "))).toEqual([
      `279 items of ${FAMILY} completed 1 1`,
      expect.stringMatching(/^7 items of .* held 1 1 train_007, train_050, .* and 1 more: EXIT_3: /),
      expect.stringMatching(/^7 items of .* held 1 1 train_014, .* and 1 more: EXIT_4: /),
      expect.stringMatching(/^7 items of .* held 1 1 train_021, .* and 1 more: EXIT_5: /),
    ]);
    expect(stdout).toContain(`\n  each of them: daruma show 1 --full`);
    expect(stdout).toMatch(/^ {2}sum +blocked /m);
    const full = await run("show", "1", "--full");
    expect(full.stdout.match(/^ {2}train_\d{3} +(?:completed|held) /gm)).toHaveLength(300);
    expect(full.stdout).not.toContain("each of them");
  });

  it("is told as one step by explain, and by its name alone", async () => {
    const { stdout } = await run("explain", "1");
    expect(stdout).toContain(`\n21 items of ${FAMILY} are held, in 3 ways:\n  7 items (train_007, `);
    expect((await run("explain", "1", FAMILY)).stdout).toContain(`\n21 items of ${FAMILY} are held`);
    const listed = await cli.json<unknown[]>("jobs", "1", "--step", FAMILY, "--status", "held");
    expect(listed.value).toHaveLength(21);
  });

  it("is retried kind by kind, by what it failed with, without a server", { timeout: HANG_MS }, async () => {
    const book = await cli.json<{ items: { code: string; signature: string }[] }>("failures");
    const signature = book.value.items
      .find(({ code }) => code === "EXIT_3")!
      .signature.split(":")[1]!
      .slice(0, 10);
    const kind = ["--signature", signature] as const;
    const dry = await run("retry", "1", ...kind, "--dry-run");
    expect([dry.exitCode, dry.stdout.match(/train_\d+: held -> ready/g)?.length]).toEqual([0, 7]);
    for (const [command, said] of [
      [
        ["retry", "1", ...kind, "--canary", "2"],
        "--canary is for campaigns, which only runs of a server have",
      ],
      [["resolve", "1", "--class", "resource", "--retry"], "no job of run 1 that failed or is held matches"],
      [["retry", "1", "--class", "nonsense"], "must be one of"],
    ] as const) {
      const refused = await run(...command);
      expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining(said)]);
    }
    const nowhere = await run("retry", ...kind);
    expect(nowhere.stdout).toBe(
      "no job matches\n  left out: jobs 10000007, 10000050, 10000093, 10000136, 10000179, 10000222 and 1 more: " +
        "its run belongs to `daruma run`, not to a server: name the run\n",
    );
    const skipped = await run("resolve", "1", ...kind, "--skip", "--dry-run");
    expect([skipped.exitCode, skipped.stdout.match(/train_\d+: held -> skipped/g)?.length]).toEqual([0, 7]);
    const again = await run("reset", "1", ...kind, "--step", FAMILY);
    expect([again.exitCode, again.stdout.match(/train_\d+: held -> ready/g)?.length]).toEqual([3, 7]);
    const held = await cli.json<{ attempts: number }[]>("jobs", "1", "--status", "held");
    expect(held.value.filter(({ attempts }) => attempts === 2)).toHaveLength(7);
  });

  it("is decided by the command that the inbox names, or some of it by a glob", {
    timeout: HANG_MS,
  }, async () => {
    const some = await run("resolve", "1", "train_?0?", "--skip", "--dry-run");
    expect(some.stdout.match(/held -> skipped/g)).toHaveLength(3);
    cli.write("mended", "");
    const { exitCode, stdout } = await run("resolve", "1", FAMILY, "--retry", "--reason", "mended");
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/^✓ run 1 of sweep completed .*: 301 completed$/m),
    ]);
    expect((await run("inbox")).stdout).toBe("nothing needs a person\n");
    const { value } = await cli.json<{ items: { rescued_by: string }[] }>("failures");
    expect(value.items.map(({ rescued_by }) => rescued_by)).toEqual(
      Array(3).fill("a retry by hand (7 of 7)"),
    );
  });
});
