import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./daruma-process.js";

const REACHED_DEADLINE_MS = 30_000;

/** A `git` that stops at the replay of a patch until it is let go on, so that a test can act in the middle of a rebuild. */
export class SlowGit {
  private readonly gate: string;
  private readonly reachedFile: string;

  constructor(private readonly folder: string) {
    mkdirSync(folder, { recursive: true });
    this.gate = join(folder, "gate");
    this.reachedFile = join(folder, "reached");
    const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const script = `#!/bin/sh
case " $* " in *" apply --index "*)
  if [ -e '${this.gate}' ]; then
    echo $$ > '${this.reachedFile}'
    while [ -e '${this.gate}' ]; do sleep 0.05; done
  fi;;
esac
exec '${git}' "$@"
`;
    writeFileSync(join(folder, "git"), script);
    chmodSync(join(folder, "git"), 0o755);
    writeFileSync(this.gate, "");
  }

  get path(): string {
    return `${this.folder}:${process.env.PATH}`;
  }

  /** Resolves when a replay has come to the gate. */
  reached(): Promise<true> {
    return eventually("a rebuild under way", REACHED_DEADLINE_MS, () => existsSync(this.reachedFile));
  }

  open(): void {
    rmSync(this.gate, { force: true });
  }

  /** For when the process that wanted it is gone. */
  kill(): void {
    try {
      process.kill(Number(readFileSync(this.reachedFile, "utf8")), "SIGKILL");
    } catch {}
  }
}
