import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MadeCheckpoint } from "../../src/run/workspace/checkpoint.js";
import type { Workspace, Workspaces } from "../../src/run/workspace/workspace.js";
import { writeFiles } from "./git-repository.js";

const BINARY = Buffer.from([0, 255, 1, 254, 10, 13, 0, 10, 13, 13, 0]);

/** What the user's repository holds before anything. */
export const BASE_FILES = {
  "a.txt": "one\ntwo\nthree\n",
  "gone.txt": "to be deleted\n",
  "old name.txt": "a file\nwith enough\nlines to be\nseen as renamed\n",
  "run.sh": "#!/bin/sh\n",
  "bin/data.bin": Buffer.concat([BINARY, BINARY]),
  ".gitignore": "ignored/\n*.log\n",
};

/** Three steps that between them do to files all that can be done to files. */
export const STEPS: readonly ((path: string) => void)[] = [
  (path) => {
    writeFiles(path, { "a.txt": "one\n2\nthree\n", "new/untracked.txt": "new\n", "new/blob": BINARY });
    writeFiles(path, { empty: "", "crlf.txt": "a\r\nb\r\nno end" });
    symlinkSync("../a.txt", join(path, "new", "link"));
  },
  (path) => {
    rmSync(join(path, "gone.txt"));
    renameSync(join(path, "old name.txt"), join(path, "new", "new näme.txt"));
    chmodSync(join(path, "run.sh"), 0o755);
    writeFileSync(join(path, "bin", "data.bin"), Buffer.concat([BINARY, Buffer.from("changed"), BINARY]));
  },
  (path) => {
    writeFileSync(join(path, "a.txt"), "one\n2\n3\n");
    rmSync(join(path, "new", "link"));
    writeFileSync(join(path, "new", "link"), "a file in place of a link\n");
    rmSync(join(path, "empty"));
    mkdirSync(join(path, "empty"));
    writeFileSync(join(path, "empty", "not any more"), "x");
    renameSync(join(path, "new", "blob"), join(path, "blob"));
  },
];

/** Checkpoints one after the other, each on the one before. */
export class Chain {
  readonly made: MadeCheckpoint[] = [];

  constructor(
    private readonly workspaces: Workspaces,
    public workspace: Workspace,
  ) {}

  get since(): string {
    return this.made.at(-1)?.commit ?? this.workspace.base;
  }

  get replay() {
    const { repo, commit, base } = this.workspace;
    return { repo, commit, base, checkpoints: [...this.made] };
  }

  async add(ordinal = this.made.length + 1): Promise<MadeCheckpoint> {
    const stepId = `step-${ordinal}`;
    const input = { ordinal, stepId, index: ordinal - 1, attempts: 2, at: 1_700_000_000_000 };
    const checkpoint = await this.workspaces.checkpoint(this.workspace, { ...input, since: this.since });
    this.made.push(checkpoint);
    return checkpoint;
  }

  async addSteps(): Promise<this> {
    for (const step of STEPS) {
      step(this.workspace.path);
      await this.add();
    }
    return this;
  }
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "no error";
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
