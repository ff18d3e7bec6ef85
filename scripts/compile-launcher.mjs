// Compiles native/launcher to dist/launcher/linux-ARCH, without a libc, so that it runs beside any. Where there is no compiler
// it is left out: Node then starts the processes, and nobody needs a compiler to build or to install.
import { spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

const CROSS_COMPILERS = { x64: "x86_64-linux-gnu-gcc", arm64: "aarch64-linux-gnu-gcc" };
const FLAGS = [
  ...["-std=c11", "-O2", "-Wall", "-Wextra", "-static", "-s", "-fno-pie", "-no-pie"],
  // No C library: native/launcher/runtime.c has what is needed of one, and the compiler must not call it from within itself.
  ...["-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-tree-loop-distribute-patterns"],
  ...["-fno-asynchronous-unwind-tables", "-Wl,--build-id=none"],
];

const isOwn = (arch) => process.platform === "linux" && process.arch === arch;
const compilersFor = (arch) => [...(isOwn(arch) ? ["cc", "gcc", "clang"] : []), CROSS_COMPILERS[arch]];

function findProgram(name) {
  const files = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** `{ arch, compiler }` of each machine to compile for: this one, or all that are shipped. `compiler` may be undefined. */
export function listLaunchers(isForAll) {
  const machines = Object.keys(CROSS_COMPILERS).filter((arch) => isForAll || isOwn(arch));
  return machines.map((arch) => ({ arch, compiler: compilersFor(arch).map(findProgram).find(Boolean) }));
}

/** @returns the files that were written */
export function compileLaunchers(root, launchers) {
  const folder = join(root, "native/launcher");
  const sources = readdirSync(folder).filter((name) => name.endsWith(".c"));
  mkdirSync(join(root, "dist/launcher"), { recursive: true });
  return launchers.flatMap(({ arch, compiler }) => {
    const output = join(root, "dist/launcher", `linux-${arch}`);
    const args = [...FLAGS, "-o", output, ...sources];
    const result = compiler && spawnSync(compiler, args, { cwd: folder, encoding: "utf8" });
    if (result?.status === 0) return [output];
    const reason = compiler ? `${compiler} failed: ${result.stderr}` : `no ${compilersFor(arch).at(-1)}`;
    process.stderr.write(`launcher for linux-${arch} left out, Node's spawn takes its place: ${reason}\n`);
    return [];
  });
}
