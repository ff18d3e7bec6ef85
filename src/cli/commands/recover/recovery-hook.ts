import { spawn } from "node:child_process";
import { hookFailed, type Round } from "./rounds.js";

/** Limit for an environment variable on Linux. The ids are also on stdin. */
const MAX_IDS_CHARS = 100_000;

/** Implements `--recovery-hook`: a shell command that runs once before the jobs of a round run again. */
export function recoveryHook(command: string): (round: Round) => Promise<void> {
  return async ({ runId, number, jobIds }) => {
    const ids = jobIds.join(",");
    const child = spawn("sh", ["-c", command], {
      // Its output goes to stderr, because stdout is for the result of this command.
      stdio: ["pipe", 2, 2],
      env: {
        ...process.env,
        DARUMA_RUN_ID: String(runId),
        DARUMA_ROUND: String(number),
        DARUMA_JOB_IDS: ids.length > MAX_IDS_CHARS ? "" : ids,
      },
    });
    // A hook that does not read the ids may already be gone.
    child.stdin?.on("error", () => {});
    child.stdin?.end(`${jobIds.join("\n")}\n`);
    const how = await new Promise<string | null>((settle) => {
      child.once("error", ({ message }) => settle(message));
      child.once("close", (code, signal) => settle(code === 0 ? null : endText(code, signal)));
    });
    if (how !== null) throw hookFailed(command, how);
  };
}

function endText(code: number | null, signal: NodeJS.Signals | null): string {
  return code === null ? `ended by ${signal}` : `exit code ${code}`;
}
