import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "./repository-root.js";

const LIBRARY = ["dist/index.js", "dist/flow/flow.js", "dist/flow/flow-errors.js"].map((file) =>
  JSON.stringify(pathToFileURL(join(repositoryRoot, file)).href),
);

/** Where a program is written, and where it keeps its runs. */
interface Place {
  readonly path: string;
  readonly outputDir: string;
}

/** A module that exports a flow. Each of its functions appends its name to the file `did`, and fails while the file `bad` is there. */
export function writeFlow({ path }: Place, body: string, name = "order.mjs", options = ""): string {
  const file = join(path, name);
  writeFileSync(
    file,
    `import { appendFileSync, existsSync } from "node:fs";
import { flow } from ${LIBRARY[1]};
import { StepFailed } from ${LIBRARY[2]};
const does = (name) => () => {
  appendFileSync(${JSON.stringify(join(path, "did"))}, name + "\\n");
  if (name === "charge" && existsSync(${JSON.stringify(join(path, "bad"))})) throw new Error("card is declined");
  return name;
};
export const order = flow("order", { unhandled: "hold", ${options} }, async (s, input) => {
${body}
});
`,
  );
  return file;
}

/** Starts the flow of a module in a process of its own, as a program does that has it, and gives what it printed. */
export function startFlow({ path, outputDir }: Place, file: string, key: string): Promise<string> {
  const program = join(path, "program.mjs");
  writeFileSync(
    program,
    `import { Daruma } from ${LIBRARY[0]};
import { order } from ${JSON.stringify(pathToFileURL(file).href)};
const daruma = await Daruma.open({ outputDir: ${JSON.stringify(outputDir)} });
const { result } = await daruma.start(order, { id: 7 }, { key: ${JSON.stringify(key)} });
console.log((await result).status);
await daruma.close();
`,
  );
  const child = spawn(process.execPath, [program], { cwd: path, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  return new Promise((settle) => child.on("close", () => settle(text.trim())));
}

/** A held step, one that was repaired and a map: what pages and pictures show of a flow. */
export const ORDER = `  await s.step("load", does("load"));
  await s.map("parcels", ["a", "b"], { key: (each) => each }, (_, item) => item.step("pack", does("pack")));
  await s.step("charge", does("charge"));
  return s.step("ship", does("ship"));`;
