const SOURCE_FOLDER = "/src/";
const BUILD_FOLDER = "/dist/";

/**
 * The compiled entry of a worker thread that lies beside the asking module. Node runs no TypeScript, so a module
 * that is itself run from source (by the test runner) gets the entry's build from `dist`.
 *
 * @param moduleUrl `import.meta.url` of the asking module
 * @param entry such as `./sqlite-thread.js`
 */
export function threadEntry(moduleUrl: string, entry: string): URL {
  const beside = new URL(entry, moduleUrl);
  if (!new URL(moduleUrl).pathname.endsWith(".ts")) return beside;
  const folder = beside.pathname.lastIndexOf(SOURCE_FOLDER);
  if (folder < 0) return beside;
  const rest = beside.pathname.slice(folder + SOURCE_FOLDER.length);
  return new URL(`${beside.pathname.slice(0, folder)}${BUILD_FOLDER}${rest}`, moduleUrl);
}
