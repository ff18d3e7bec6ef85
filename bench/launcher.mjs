import { execFileSync } from "node:child_process";
const { LauncherHost } = await import(process.env.DIST + "/launcher-host.js");
const N = 2000, P = 8;
const host = new LauncherHost("perl", null);
async function ours(exec = "true") {
  let left = N; const env = { ...process.env, DARUMA_ATTEMPT_TOKEN: "x".repeat(32) };
  const one = async () => { while (left-- > 0) await host.start({ exec, env, cwd: "/tmp", onStdout() {}, onStderr() {} }).exited; };
  const t = performance.now();
  await Promise.all(Array.from({ length: P }, one));
  return N / (performance.now() - t) * 1000;
}
const timed = (cmd, args) => { const t = performance.now(); execFileSync(cmd, args, { cwd: "/tmp/lp", stdio: "ignore" }); return N / (performance.now() - t) * 1000; };
await ours();
for (let i = 0; i < 4; i++) console.log("make", timed("make", ["-s", "-j8", "all"]) | 0, "ninja", timed("ninja", ["-j8"]) | 0, "ours", (await ours()) | 0, "argv", (await ours(["/bin/true"])) | 0);
await host.close();
