// Writes docs/server-operations.md from the table in src/operations/operations.ts, as it was built last.
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { OPERATIONS } from "../dist/operations/operations.js";
import { renderOperations } from "./operations-document.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const toJsonSchema = (schema, io) => z.toJSONSchema(schema, { io, unrepresentable: "any" });
writeFileSync(join(root, "docs/server-operations.md"), renderOperations(OPERATIONS, toJsonSchema));
