import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const TEST_IDENTITY = {
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.org",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.org",
};

/** git as a user runs it, but with settings of nobody. */
export function git(cwd: string, ...args: string[]): string {
  const env = {
    ...process.env,
    ...TEST_IDENTITY,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
  };
  return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

export function writeFiles(folder: string, files: { readonly [path: string]: string | Uint8Array }): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

export function makeRepository(
  folder: string,
  files: { readonly [path: string]: string | Uint8Array },
  ...initOptions: string[]
): string {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet", "--initial-branch=main", ...initOptions);
  writeFiles(folder, files);
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--allow-empty", "-m", "first");
  return folder;
}

/** Every file below the folder with its kind, whether it is executable, and its content; sorted. */
export function listFiles(folder: string, skip: (path: string) => boolean = () => false): string[] {
  const lines: string[] = [];
  const visit = (path: string): void => {
    for (const name of readdirSync(path, { encoding: "buffer" })) {
      const entry = Buffer.concat([Buffer.from(`${path}/`), name]);
      const place = relative(folder, entry.toString("latin1"));
      if (skip(place)) continue;
      const info = lstatSync(entry);
      if (info.isDirectory()) visit(entry.toString("utf8"));
      else if (info.isSymbolicLink()) lines.push(`${place} -> ${readlinkSync(entry)}`);
      else lines.push(`${place} ${info.mode & 0o100 ? "x" : "-"} ${hash(readFileSync(entry))}`);
    }
  };
  visit(folder);
  return lines.sort();
}

/** The files of a tree without its own `.git`. */
export function listTree(folder: string): string[] {
  return listFiles(folder, (path) => path === ".git");
}

/** All that belongs to a repository: each file of `.git`, so index, refs, stash, settings, hooks and objects, and the working tree. */
export function photograph(repo: string): { readonly files: string[]; readonly words: string } {
  const words = [
    ["status", "--porcelain"],
    ["branch", "-a"],
    ["worktree", "list"],
    ["stash", "list"],
  ];
  return { files: listFiles(repo), words: words.map((args) => git(repo, ...args)).join("\n--\n") };
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
