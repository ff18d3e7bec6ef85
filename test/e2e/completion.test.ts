import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { commandLine } from "../support/cli.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-completion-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function scriptFor(shell: string): string {
  const printed = spawnSync(process.execPath, [commandLine, "completion", shell], { encoding: "utf8" });
  expect([printed.status, printed.stderr]).toEqual([0, ""]);
  const file = join(folder, `daruma.${shell}`);
  writeFileSync(file, printed.stdout);
  return file;
}

/** What the shell would offer after each of these lines, by its own machinery. */
const OFFERS: { readonly [shell: string]: (script: string, line: string) => string[] } = {
  bash: (script, line) => [
    "--norc",
    "-c",
    `source ${script}; COMP_WORDS=(${line.endsWith(" ") ? `${line}''` : line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _daruma; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  fish: (script, line) => ["--no-config", "-c", `source ${script}; complete -C '${line}'`],
  zsh: (script, line) => [
    "-f",
    "-c",
    `compdef() { :; }; _describe() { print -l -- \${offered%%:*}; }; _files() { :; }; source ${script}; words=(${line.endsWith(" ") ? `${line}''` : line}); CURRENT=\${#words}; PREFIX=\${words[CURRENT]}; _daruma`,
  ],
};

describe("daruma completion", () => {
  for (const [shell, offer] of Object.entries(OFFERS)) {
    const isThere = spawnSync(shell, ["--version"]).error === undefined;
    if (!isThere) console.warn(`skipped: no ${shell} here to complete in`);
    it.skipIf(!isThere)(`offers commands, the commands of a command and flags in ${shell}`, () => {
      const script = scriptFor(shell);
      const offered = (line: string): string[] => {
        const { status, stdout, stderr } = spawnSync(shell, offer(script, line), {
          cwd: folder,
          encoding: "utf8",
        });
        expect([status, stderr]).toEqual([0, ""]);
        const words = stdout.split("\n").map((each) => each.split("\t")[0]!);
        return words.filter((each) => each.startsWith(line.split(" ").at(-1)!));
      };
      expect(offered("daruma expl")).toEqual(["explain"]);
      expect(offered("daruma token ").sort()).toEqual(expect.arrayContaining(["create", "list", "revoke"]));
      expect(offered("daruma token ")).not.toContain("explain");
      expect(offered("daruma run flow.yaml --rep")).toEqual(["--report"]);
      expect(offered("daruma --json token create --ro")).toEqual(["--role"]);
      expect(offered("daruma token list --rep")).toEqual([]);
    });
  }

  it("refuses a shell that it does not know", { tags: ["C3"] }, () => {
    const refused = spawnSync(process.execPath, [commandLine, "completion", "tcsh"], { encoding: "utf8" });
    expect([refused.status, refused.stderr]).toEqual([
      2,
      expect.stringContaining("Allowed choices are bash, zsh, fish"),
    ]);
  });
});
