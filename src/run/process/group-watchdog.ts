import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/** Tracks the groups that are named on its input (`+ 12`, `- 12`), and kills the remaining ones when its input ends. */
const WATCHDOG_SCRIPT = `
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

/**
 * A shell that outlives the engine for a moment: when the engine dies, however suddenly, the pipe to the watchdog
 * closes and it kills every process group that still runs. A process started in the instant before the engine's
 * death may be unknown to it; that one is found by its token when the run is resumed.
 */
export class GroupWatchdog {
  private readonly child: ChildProcess;
  private readonly gone: Promise<void>;

  constructor() {
    this.child = spawn("/bin/sh", ["-c", WATCHDOG_SCRIPT, "daruma-watchdog"], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.child.stdin!.on("error", () => {});
    this.gone = new Promise((resolve) => {
      this.child.once("error", () => resolve());
      this.child.once("close", () => resolve());
    });
    this.child.unref();
    (this.child.stdin as Socket).unref();
  }

  add(group: number): void {
    this.child.stdin!.write(`+ ${group}\n`);
  }

  remove(group: number): void {
    this.child.stdin!.write(`- ${group}\n`);
  }

  close(): Promise<void> {
    this.child.ref();
    this.child.stdin!.end();
    return this.gone;
  }
}
