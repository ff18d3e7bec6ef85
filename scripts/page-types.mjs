// Writes the types of the API for the page, from the same table of operations that the server is made of:
// web/src/api/schema.d.ts, which is not kept in git.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import openapiTS, { astToString } from "openapi-typescript";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folder = mkdtempSync(join(root, "node_modules/.cache-page-types-"));
try {
  const file = join(folder, "document.mjs");
  await build({
    absWorkingDir: root,
    stdin: {
      contents: `
        import { openApiDocument } from "./src/api/openapi.ts";
        import { OPERATIONS } from "./src/operations/operations.ts";
        export const document = openApiDocument(OPERATIONS);`,
      resolveDir: root,
    },
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
    outfile: file,
  });
  const { document } = await import(pathToFileURL(file).href);
  for (const path of Object.values(document.paths))
    for (const operation of Object.values(path)) readAsJson(operation);
  const types = astToString(await openapiTS(JSON.stringify(document), { defaultNonNullable: false }));
  writeFileSync(join(root, "web/src/api/schema.d.ts"), types);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The page reads streams by other means. */
function readAsJson({ responses }) {
  for (const { content } of Object.values(responses))
    if (content !== undefined && "application/json" in content)
      for (const type of Object.keys(content)) if (type !== "application/json") delete content[type];
}
