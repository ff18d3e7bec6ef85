import { createRequire } from "node:module";
import { extname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DarumaError } from "../core/errors/errors.js";
import { messageOf } from "../core/text/message-of.js";
import type { DarumaOptions } from "../host/parts.js";

type Flows = NonNullable<DarumaOptions["flows"]>;

/** The flows that a module exports, under any name. */
export async function loadFlows(file: string): Promise<Flows> {
  const flows = Object.values(await importModule(file)).filter(isFlow);
  if (flows.length > 0) return flows;
  throw new DarumaError("USAGE", `${file} exports no flow`, {
    hint: 'Export what `flow("name", program)` gives.',
  });
}

async function importModule(file: string): Promise<object> {
  // The bundle has no import() of its own: Node would not find the loader of a file whose code was kept.
  const helper = fileURLToPath(new URL("./import-module.js", import.meta.url));
  const load = createRequire(import.meta.url)(helper) as (url: string) => Promise<object>;
  try {
    return await load(pathToFileURL(resolve(file)).href);
  } catch (error) {
    throw new DarumaError("USAGE", `${file} cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      ...(isUnreadable(file, error)
        ? {
            hint: `Node ${process.version} reads no TypeScript: build it to .js, or use Node 22.18 or later.`,
          }
        : {}),
    });
  }
}

function isUnreadable(file: string, error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  return [".ts", ".mts"].includes(extname(file)) && code === "ERR_UNKNOWN_FILE_EXTENSION";
}

/** The module has a library of its own, so that classes tell nothing. */
function isFlow(value: unknown): value is Flows[number] {
  return typeof value === "object" && value !== null && "program" in value && "definition" in value;
}
