import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./daruma-process.js";

/** A `git` that stops at a command until it is let go on, so that a test can act in the middle of something. */
export class SlowGit {
  private readonly gate: string;
  private readonly reachedFile: string;

  /** `at`: words that stand in a row in the command, as in the replay of a patch. */
  constructor(
    private readonly folder: string,
    at = "apply --index",
  ) {
    mkdirSync(folder, { recursive: true });
    this.gate = join(folder, "gate");
    this.reachedFile = join(folder, "reached");
    const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const script = `#!/bin/sh
case " $* " in *" ${at} "*)
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

  /** Resolves when such a command has come to the gate. */
  reached(): Promise<true> {
    return eventually("git at the gate", () => existsSync(this.reachedFile));
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
