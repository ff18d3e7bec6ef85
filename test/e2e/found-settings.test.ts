import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { commandLine } from "../support/cli.js";

const root = realpathSync(mkdtempSync(join(tmpdir(), "daruma-found-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const CHANNEL = 'channels: { team: { type: command, command: [sh, -c, "echo told >> $0.txt", TOLD] } }\n';
const WORKFLOW = "name: told\nnotify: [{ on: failed, to: team }]\nsteps: { a: { exec: exit 3 } }\n";

/** A folder with these files, each of them the user's alone. */
function folder(name: string, files: { readonly [file: string]: string }): string {
  const path = join(root, name);
  mkdirSync(path, { recursive: true, mode: 0o755 });
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(path, file, ".."), { recursive: true, mode: 0o755 });
    writeFileSync(join(path, file), text, { mode: 0o644 });
  }
  return path;
}

function daruma(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [commandLine, ...args], {
    ...{ cwd, encoding: "utf8" },
    env: { PATH: process.env.PATH!, HOME: root, NO_COLOR: "1", ...env },
  });
  return { status, text: stdout + stderr };
}

const config = (path: string): string => CHANNEL.replace("TOLD", join(path, "told"));

it("those beside the workflow file are used and named in one line, wherever the command is typed", () => {
  const path = folder("beside", { "flow.yaml": WORKFLOW });
  writeFileSync(join(path, "daruma.config.yaml"), config(path));
  const { status, text } = daruma(root, ["run", "beside/flow.yaml"]);
  expect(status).toBe(1);
  expect(text.match(/^settings: .*$/gm)).toEqual([`settings: ${join(path, "daruma.config.yaml")}`]);
  expect(text).not.toContain("UNKNOWN_CHANNEL");
  expect(spawnSync("cat", [join(path, "told.txt")], { encoding: "utf8" }).stdout).toBe("told\n");
  expect(daruma(root, ["resume", "last"]).text).toContain(`settings: ${path}`);
  const without = daruma(root, ["run", "beside/flow.yaml", "--no-config"]);
  expect(without.text).not.toMatch(/^settings: /m);
  expect(without.text).toContain("UNKNOWN_CHANNEL there is no channel `team`");
  const env = { DARUMA_CONFIG: join(path, "daruma.config.yaml") };
  expect(daruma(root, ["run", "beside/flow.yaml", "--no-config"], env).text).toContain("UNKNOWN_CHANNEL");
  expect(daruma(root, ["validate", "beside/flow.yaml"]).text).not.toContain("UNKNOWN_CHANNEL");
});

it("those of the working folder and its parents count inside a git repository alone", () => {
  const path = folder("parents", { "repo/sub/deep/.keep": "", "flows/flow.yaml": WORKFLOW });
  writeFileSync(join(path, "repo/daruma.config.yaml"), config(path));
  writeFileSync(join(path, "daruma.config.yaml"), config(path));
  const deep = join(path, "repo/sub/deep");
  const file = join(path, "flows/flow.yaml");
  expect(daruma(deep, ["run", file]).text).not.toMatch(/^settings: /m);
  mkdirSync(join(path, "repo/sub/.git"));
  expect(daruma(deep, ["run", file]).text).not.toMatch(/^settings: /m);
  rmSync(join(path, "repo/sub/.git"), { recursive: true });
  mkdirSync(join(path, "repo/.git"));
  expect(daruma(deep, ["run", file]).text).toContain(`settings: ${join(path, "repo/daruma.config.yaml")}\n`);
});

it("a file that others may write, or whose folder they may, is told in one warning and not used", () => {
  const path = folder("open", { "flow.yaml": WORKFLOW });
  const file = join(path, "daruma.config.yaml");
  writeFileSync(file, config(path));
  const warnings = (): string[] =>
    daruma(path, ["run", "flow.yaml"]).text.match(/^(?:warning: .* is not used|settings): .*$/gm) ?? [];
  chmodSync(file, 0o664);
  expect(warnings()).toEqual([expect.stringContaining(`${file} is not used: others may write it;`)]);
  chmodSync(file, 0o644);
  chmodSync(path, 0o777);
  expect(warnings()).toEqual([expect.stringContaining("others may write into its folder;")]);
  chmodSync(path, 0o755);
  expect(warnings()).toEqual([`settings: ${file}`]);
});

it.skipIf(process.getuid?.() !== 0)("one of another user, or in another user's folder, is not used", () => {
  const path = folder("foreign", { "flow.yaml": WORKFLOW });
  const file = join(path, "daruma.config.yaml");
  writeFileSync(file, config(path));
  const told = (): string | undefined =>
    /^warning: .* is not used: .*$/m.exec(daruma(path, ["run", "flow.yaml"]).text)?.[0];
  expect(told()).toBeUndefined();
  chownSync(file, 12_345, 12_345);
  expect(told()).toContain(`${file} is not used: it belongs to another user;`);
  chownSync(file, 0, 0);
  chownSync(path, 12_345, 12_345);
  expect(told()).toContain("its folder belongs to another user;");
});

it("found settings give channels and breakers, not rules, clusters or how long runs are kept", () => {
  const path = folder("less", {
    "flow.yaml":
      "name: told\nsteps: { a: { exec: exit 3, uses: [api] }, b: { exec: 'true', runs_on: [batch] } }\n",
  });
  const site = `breakers: { api: {} }\nnotify: [{ on: failed, to: team }]\nclusters: { hpc: { type: slurm, tags: [batch] } }\n`;
  writeFileSync(join(path, "daruma.config.yaml"), config(path) + site);
  const found = daruma(path, ["run", "flow.yaml"]);
  expect([found.status, found.text]).toEqual([1, expect.not.stringMatching(/UNKNOWN_BREAKER|CLUSTER/)]);
  expect(spawnSync("cat", [join(path, "told.txt")], { encoding: "utf8" }).stdout).toBe("");
  const named = daruma(path, ["run", "flow.yaml", "--config", "daruma.config.yaml"]);
  expect(named.status).toBe(2);
});

it("a missing secret is a warning where the file was found, and an error where it was named", () => {
  const path = folder("secret", {
    "flow.yaml": WORKFLOW,
    "daruma.config.yaml": "channels: { team: { type: slack, secret: NO_SUCH_URL } }\n",
  });
  const found = daruma(path, ["run", "flow.yaml"]);
  expect(found.text).toContain("warning: channel team: the variable NO_SUCH_URL is empty or missing; ");
  expect(found.text).toContain("run 1 ");
  const named = daruma(path, ["run", "flow.yaml", "--config", "daruma.config.yaml"]);
  expect([named.status, named.text]).toEqual([
    2,
    expect.stringContaining("error CHANNEL_SECRET: channel team:"),
  ]);
});
