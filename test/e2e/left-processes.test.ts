import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";
import { fileAppears } from "../support/file-appears.js";

const cli = new CliFolder();
const kept: number[] = [];
afterEach(() => {
  for (const pid of kept.splice(0)) if (lives(pid)) process.kill(pid, "SIGKILL");
});

/** A process that leaves its group, and the file with its number. */
const leaves = (name: string): string =>
  `setsid sh -c 'echo $$ > ${name}.new; mv ${name}.new ${name}; exec sleep 600' > /dev/null 2>&1 &`;

const begin = (of: string, last: string): string => `name: leaves
steps:
  start:
    exec: |
      ${leaves(`${of}-left`)}
      DARUMA_KEEP=1 ${leaves(`${of}-kept`)}
      while [ ! -e ${of}-left ] || [ ! -e ${of}-kept ]; do sleep 0.01; done
${last}`;

function pidIn(name: string): number {
  return Number(readFileSync(join(cli.path, name), "utf8"));
}

/** A process that has ended and that nobody has waited for is no process. */
function lives(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/\) [ZX]/.test(stat);
  } catch {
    return false;
  }
}

describe.runIf(existsSync("/proc/self/environ"))("processes that leave the group of their attempt", () => {
  it("live on after it, and are ended with the run, but for those that asked to stay", async () => {
    const { exitCode, report } = await cli.runJson(
      begin("a", "  look: { exec: 'kill -0 $(cat a-left) && kill -0 $(cat a-kept)', depends_on: start }\n"),
    );
    kept.push(pidIn("a-kept"));
    expect([exitCode, report.status]).toEqual([0, "completed"]);
    expect([lives(pidIn("a-left")), lives(pidIn("a-kept"))]).toEqual([false, true]);
  });

  it("are all ended with an attempt that is canceled", async () => {
    const text = begin("b", "      touch both; exec sleep 600\n");
    const running = cli.start("run", cli.write("cancel.yaml", text));
    await fileAppears(join(cli.path, "both"));
    kept.push(pidIn("b-left"), pidIn("b-kept"));
    expect((await cli.daruma("cancel", "last")).exitCode).toBe(0);
    await running.ended;
    expect(kept.map(lives)).toEqual([false, false]);
  });
});
