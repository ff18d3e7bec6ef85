import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it } from "vitest";
import { DarumaProcess, eventually } from "../support/daruma-process.js";

/** While a file is there, nothing can be written where the logs lie. */
const PRELOAD = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const full = () => Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
const logs = new Set();
const { open, openSync, writeSync, writeFileSync } = fs;
const isLog = (path) => /job_stdio/.test(String(path));
fs.open = (path, flags, mode, done) => open(path, flags, mode, (error, fd) => {
  if (!error && isLog(path)) logs.add(fd);
  done(error, fd);
});
fs.writeSync = (fd, ...rest) => {
  if (logs.has(fd) && fs.existsSync(process.env.DISK_IS_FULL)) throw full();
  return writeSync(fd, ...rest);
};
fs.writeFileSync = (path, ...rest) => {
  if (isLog(path) && fs.existsSync(process.env.DISK_IS_FULL)) throw full();
  return writeFileSync(path, ...rest);
};
syncBuiltinESMExports();
`;

const folder = mkdtempSync(join(tmpdir(), "daruma-full-"));
let run: DarumaProcess;
afterAll(async () => {
  await run?.kill();
  rmSync(folder, { recursive: true, force: true });
});

it("a step whose log cannot be written for want of room waits, says so, and is done once", async () => {
  const [preload, flag, effects] = ["preload.mjs", "full", "effects"].map((name) => join(folder, name));
  writeFileSync(preload!, PRELOAD);
  writeFileSync(flag!, "");
  const file = join(folder, "flow.json");
  const steps = {
    a: { exec: `echo a >> ${effects}; echo hello` },
    b: { exec: `echo b >> ${effects}; echo world`, depends_on: ["a"] },
  };
  writeFileSync(file, JSON.stringify({ name: "full", steps }));
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(preload!)}`, DISK_IS_FULL: flag! };
  run = new DarumaProcess("run", ["run", file, "--output-dir", join(folder, "out")], env);
  run.start();
  await eventually("the shortage to be told", () => run.output.includes("cannot be written"));
  expect(run.output).toContain("the log of a cannot be written: ENOSPC");
  rmSync(flag!);
  expect(await run.ended()).toBe(0);
  expect(run.output).toContain("run 1 of full completed");
  expect(readFileSync(effects!, "utf8")).toBe("a\nb\n");
  expect(run.output).not.toContain("attempt 2");
});
