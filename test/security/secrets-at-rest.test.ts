import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Daruma } from "../../src/host/daruma.js";
import { makeRepository } from "../support/git-repository.js";

const SECRETS = {
  SEC_NUM: "48151623421",
  SEC_WORD: "Tr0ub4dor-and-3",
  SEC_OWN: `drm_${"aB3_".repeat(10)}xyz`,
};

let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "daruma-at-rest-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Every file below the output folder, but what steps work on and what is made from it. */
function recordedFiles(outputDir: string): string[] {
  return readdirSync(outputDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/(?:workspace|patches)\//.test(relative(outputDir, path)));
}

const PRINT = `printf '{"pin":%s,"s":"%s","own":"%s"}' "$SEC_NUM" "$SEC_WORD" "$SEC_OWN"`;
const FOLD = `printf %s "$SEC_WORD-$SEC_WORD" | base64 | fold -w 7 >&2`;

it("stand in no file that is recorded: as numbers, in names of files, folded, in failures", async () => {
  const repo = makeRepository(join(folder, "repo"), { "a.txt": "a\n" });
  const file = join(folder, "flow.yaml");
  const steps = {
    names: {
      exec: `echo x > "$SEC_WORD.txt"; mkdir "d-$SEC_NUM"; echo y > "d-$SEC_NUM/f"; ${FOLD}; ${PRINT}`,
    },
    fails: {
      depends_on: ["names"],
      exec: `echo z > "$SEC_WORD-2.txt"; ${FOLD}; printf '{"code":"%s","message":"%s"}' "$SEC_WORD" "$SEC_NUM" > "$DARUMA_FAILURE"; exit 3`,
    },
  };
  writeFileSync(file, JSON.stringify({ secrets: ["SEC_NUM", "SEC_WORD"], workspace: { repo }, steps }));
  const outputDir = join(folder, "out");
  const daruma = await Daruma.open({ outputDir, env: { ...process.env, ...SECRETS } });
  const report = await (await daruma.start(file)).result;
  expect(report.status).toBe("failed");
  expect(report.jobs[0]!.output).toEqual({
    pin: "[redacted:SEC_NUM]",
    s: "[redacted:SEC_WORD]",
    own: "[redacted]",
  });
  const shown = await daruma.call("get_workspace", { run_id: report.run_id });
  expect(shown.checkpoints[0]!.changed_files.toSorted()).toEqual(
    ["[redacted:SEC_WORD].txt", "d-[redacted:SEC_NUM]/f"].sort(),
  );
  const { text } = await daruma.logs(report.run_id, "names", { stream: "stderr" });
  expect(text).toContain("[redacted:SEC_WORD]");
  await daruma.close();
  const files = recordedFiles(outputDir);
  expect(files.some((path) => path.endsWith("daruma.db"))).toBe(true);
  expect(files.some((path) => path.includes("/state/"))).toBe(true);
  expect(files.length).toBeGreaterThan(5);
  for (const path of files)
    for (const [name, value] of Object.entries(SECRETS))
      expect([relative(outputDir, path), name, readFileSync(path).includes(value)]).toEqual([
        relative(outputDir, path),
        name,
        false,
      ]);
});

it("are not put together by what strips a failure for the terminal", async () => {
  const file = join(folder, "flow.yaml");
  const print = String.raw`printf 'is 4815\033[0m1623421\n' >&2`;
  const steps = {
    declares: {
      exec: `${print}; printf '{"code":"C4815\\u202e1623421","message":"was 4815\\u202e1623421"}' > "$DARUMA_FAILURE"; exit 3`,
    },
    prints: { exec: `${print}; exit 4` },
  };
  writeFileSync(file, JSON.stringify({ secrets: ["SEC_NUM"], steps }));
  const outputDir = join(folder, "out");
  const daruma = await Daruma.open({ outputDir, env: { ...process.env, ...SECRETS } });
  const report = await (await daruma.start(file)).result;
  const errors = report.jobs.map(({ error }) => [error?.code, error?.message]);
  expect(errors).toEqual([
    ["C[redacted:SEC_NUM]", "was [redacted:SEC_NUM]"],
    ["EXIT_4", "exit code 4: is [redacted:SEC_NUM]"],
  ]);
  const { text } = await daruma.call("explain_run", { run_id: report.run_id });
  expect(text).toContain("exit code 4: is [redacted:SEC_NUM] (EXIT_4).");
  expect(text).not.toContain(SECRETS.SEC_NUM);
  await daruma.close();
});

it("are hidden in what is made of bytes that are no UTF-8, and in a line of stderr that is cut", async () => {
  const value = "Tr0ub4dor-Ünïx/ü+key=x9";
  const file = join(folder, "flow.yaml");
  const print = (encoding: string): string =>
    `node -e 'process.stdout.write(Buffer.from(process.env.SEC_UMLAUT, "${encoding}"))'`;
  const steps = {
    output: { exec: `${print("utf16le")}; printf ' after'` },
    message: { exec: `${print("utf16le")} >&2; exit 3` },
    cut: { exec: `printf '%0185d%s' 0 "$SEC_UMLAUT" >&2; exit 4` },
  };
  writeFileSync(file, JSON.stringify({ secrets: ["SEC_UMLAUT"], steps }));
  const outputDir = join(folder, "out");
  const daruma = await Daruma.open({ outputDir, env: { ...process.env, SEC_UMLAUT: value } });
  const { jobs } = await (await daruma.start(file)).result;
  await daruma.close();
  expect(jobs.map(({ output, error }) => error?.message ?? output)).toEqual([
    "[redacted:SEC_UMLAUT] after",
    "exit code 3: [redacted:SEC_UMLAUT]",
    `exit code 4: ${"0".repeat(185)}[redacted:SEC_U…`,
  ]);
});
