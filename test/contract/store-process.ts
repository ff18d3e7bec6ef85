import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const STORE_MODULE = new URL("../../dist/store/sqlite/sqlite-store.js", import.meta.url).href;

export interface StoreProcess {
  /** Let it open the store and work; the JSON value its code returned. */
  go(): Promise<unknown>;
}

/**
 * Another process that waits until `go`, then opens the file as a store and runs `code`, the body of an async
 * function of `open`. `fileSizeKiB` limits how large a file it can write.
 */
export async function startStoreProcess(
  file: string,
  code: string,
  options: { fileSizeKiB?: number } = {},
): Promise<StoreProcess> {
  const program = `
    import { once } from "node:events";
    import { openSqliteStore } from ${JSON.stringify(STORE_MODULE)};
    const open = () => openSqliteStore({ file: ${JSON.stringify(file)} });
    process.stderr.write("ready");
    await once(process.stdin, "data");
    process.stdin.destroy();
    const value = await (async () => { ${code} })();
    process.stdout.write(JSON.stringify(value));`;
  // bash counts this limit in KiB; dash, in blocks of half of it.
  const limit = options.fileSizeKiB === undefined ? "" : `ulimit -f ${options.fileSizeKiB};`;
  const child = spawn(
    "bash",
    ["-c", `${limit} exec "$0" --input-type=module -e "$1"`, process.execPath, program],
    {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  const output = text(child.stdout);
  const closed = once(child, "close");
  await once(child.stderr, "data");
  const complaints = text(child.stderr);
  return {
    go: async () => {
      child.stdin.write("go");
      const [code] = await closed;
      if (code !== 0) throw new Error(`the process ended with ${code}: ${await complaints}`);
      return JSON.parse(await output);
    },
  };
}
