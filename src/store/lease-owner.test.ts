import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { currentOwner, isDead, parseStat } from "./lease-owner.js";

test("this process is alive, and every engine in it has its own owner", () => {
  const owner = currentOwner("engine-1");
  expect(owner.pid).toBe(process.pid);
  expect(isDead(owner)).toBe(false);
  expect(currentOwner("engine-2")).toEqual({ ...owner, engine: "engine-2" });
});

test.skipIf(process.platform !== "linux")("a process that was killed is dead", async () => {
  const child = spawn("sleep", ["600"]);
  await once(child, "spawn");
  const owner = { ...currentOwner("e"), pid: child.pid ?? 0, processStart: startOf(child.pid ?? 0) };
  expect(isDead(owner)).toBe(false);
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
  expect(isDead(owner)).toBe(true);
});

test("a process id that was given to another process belongs to a dead owner", () => {
  expect(isDead({ ...currentOwner("e"), processStart: "1" })).toBe(true);
});

test("an owner from before the machine's last start is dead", () => {
  expect(isDead({ ...currentOwner("e"), bootId: "another-boot" })).toBe(true);
});

test("an owner on another host is never declared dead", () => {
  const owner = currentOwner("e");
  expect(isDead({ ...owner, host: "elsewhere", bootId: "another-boot", pid: 2 ** 22 + 1 })).toBe(false);
});

test("what could not be found out about an owner is never taken as a sign of death", () => {
  expect(isDead({ ...currentOwner("e"), bootId: "unknown", processStart: "unknown" })).toBe(false);
});

test("a program name with brackets and blanks does not shift the fields of its stat line", () => {
  const rest = Array.from({ length: 18 }, (_, i) => i + 4).join(" ");
  expect(parseStat(`42 (a) R (b) c) S ${rest} 777 23`)).toEqual({ kind: "found", start: "777" });
});

test("a process that waits only for its parent counts as gone", () => {
  const rest = Array.from({ length: 18 }, (_, i) => i + 4).join(" ");
  expect(parseStat(`42 (node) Z ${rest} 777 23`)).toEqual({ kind: "gone" });
});

function startOf(pid: number): string {
  const found = parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (found.kind !== "found") throw new Error(`process ${pid} is not there`);
  return found.start;
}
