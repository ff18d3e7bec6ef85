import { readlinkSync } from "node:fs";
import { expect, it } from "vitest";
import { listLaunchers } from "../../../scripts/compile-launcher.mjs";
import { childrenOf, PATH } from "../../../test/support/process-trial.js";
import { createProcessHost, nativeLauncher, prepareProcessHost } from "./create-process-host.js";

/** False on systems that there is none for, and where nothing can compile it. */
const canCompile = listLaunchers(false).some(({ compiler }) => compiler !== undefined);

it("a launcher that was started ahead runs the first process, and belongs to one host", async () => {
  const before = new Set(childrenOf(process.pid));
  prepareProcessHost();
  const ahead = childrenOf(process.pid).filter((pid) => !before.has(pid));
  expect(ahead).toHaveLength(1);
  if (canCompile) expect(readlinkSync(`/proc/${ahead[0]}/exe`)).toBe(nativeLauncher());
  const host = createProcessHost();
  let stdout = "";
  const onStdout = (chunk: Buffer) => (stdout += chunk);
  const spec = { env: { PATH }, cwd: "/", onStdout, onStderr: () => {} };
  expect(await host.start({ ...spec, exec: "echo $PPID" }).exited).toMatchObject({ exitCode: 0 });
  expect(Number(stdout)).toBe(ahead[0]);
  const other = createProcessHost();
  expect(childrenOf(process.pid).filter((pid) => !before.has(pid))).toEqual(ahead);
  await Promise.all([host.close(), other.close()]);
  expect(childrenOf(process.pid).filter((pid) => !before.has(pid))).toEqual([]);
});
