import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./repository-root.js";

export { repositoryRoot };

export const commandLine = join(repositoryRoot, "dist/cli/main.js");

export interface CliResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command line as a user would, and waits for its end. */
export async function runCli(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd: string = repositoryRoot,
): Promise<CliResult> {
  if (!existsSync(commandLine)) throw new Error("dist/cli/main.js is not there: npm run build");
  const child = spawn(process.execPath, [commandLine, ...args], {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const exitCode = await new Promise<number | null>((settle, reject) => {
    child.on("error", reject);
    child.on("close", settle);
  });
  return { exitCode, stdout, stderr };
}
