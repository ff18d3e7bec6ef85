import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { CliFolder } from "../support/cli-folder.js";
import { repositoryRoot } from "../support/repository-root.js";

const cli = new CliFolder();
/** KILLS=n tells at how many places the program is killed. */
const PLACES = Number(process.env.KILLS ?? 6);
const library = pathToFileURL(join(repositoryRoot, "dist/index.js")).href;

/** Steps of every kind. It kills itself after so many committed events, and writes down what it executes. */
function writeProgram(): string {
  return cli.write(
    "order.mjs",
    `import { appendFileSync, writeFileSync } from "node:fs";
import { Daruma, flow, StepFailed } from ${JSON.stringify(library)};
const killAt = Number(process.argv[2]);
const did = (what) => appendFileSync("did", what + "\\n");
const order = flow("order", async (s, input) => {
  const user = await s.step("load user", () => { did("load user"); return { id: input.id }; });
  const [stock, price] = await Promise.all([
    s.step("stock", async () => { did("stock"); await new Promise((r) => setTimeout(r, 5)); return 5; }),
    s.step("price", { retry: 3 }, ({ attempt }) => { if (attempt < 2) throw new Error("busy"); did("price"); return 7; }),
  ]);
  await s.run("tests", {
    exec: "test -f fixed && echo tests >> did",
    repair: { lint: { exec: "touch fixed" } },
  });
  let caught = null;
  try {
    await s.step("charge", () => { throw Object.assign(new Error("declined"), { code: "DECLINED" }); });
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error;
    caught = error.code;
  }
  await s.sleep("cool down", 20);
  const shipped = await s.map("ship", ["x", "y", "z"], { key: (item) => item }, async (item, each) => {
    const packed = await each.step("pack", () => { did("pack " + item); return item.toUpperCase(); });
    return each.step("send", () => { did("send " + item); return packed + "!"; });
  });
  const first = await Promise.race([
    s.step("fast", () => { did("fast"); return "fast"; }),
    s.step("slow", () => new Promise((r) => setTimeout(r, 300_000, "slow").unref())),
  ]);
  return { id: user.id, sum: stock * price, caught, shipped, first, uuid: typeof s.uuid("label") };
});
const daruma = await Daruma.open({ outputDir: ${JSON.stringify(cli.outputDir)} });
let seen = 0;
daruma.onEvents((events) => {
  seen += events.length;
  if (killAt > 0 && seen >= killAt) process.kill(process.pid, "SIGKILL");
});
const { output } = await daruma.start(order, { id: 7 }, { key: "order-7" });
writeFileSync("output", JSON.stringify(await output));
await daruma.close();
`,
  );
}

function live(file: string, killAt: number): Promise<string> {
  const child = spawn(process.execPath, [file, String(killAt)], {
    cwd: cli.path,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  return new Promise((resolve) => child.on("close", (code, signal) => resolve(signal ?? `${code} ${said}`)));
}

const OUTPUT = {
  ...{ id: 7, sum: 35, caught: "DECLINED", shipped: ["X!", "Y!", "Z!"], first: "fast", uuid: "string" },
};

describe("a program that is killed", () => {
  it("goes on with its key at whatever event it died, and does nothing again that is on record", async () => {
    const file = writeProgram();
    expect(await live(file, 0)).toBe("0 ");
    const whole = await cli.daruma("events", "1", "--json");
    const events = whole.stdout.trim().split("\n").length;
    for (let place = 1; place <= PLACES; place += 1) {
      rmSync(cli.outputDir, { recursive: true, force: true });
      for (const name of ["did", "output", "fixed"]) rmSync(join(cli.path, name), { force: true });
      const killAt = Math.max(2, Math.floor((events * place) / (PLACES + 1)));
      expect(await live(file, killAt), `killed at ${killAt}`).toBe("SIGKILL");
      const shown = await cli.daruma("show", "1", "--json");
      const before = existsSync(join(cli.path, "did")) ? readFileSync(join(cli.path, "did"), "utf8") : "";
      expect(await live(file, 0), `killed at ${killAt}`).toBe("0 ");
      expect(JSON.parse(readFileSync(join(cli.path, "output"), "utf8")), `killed at ${killAt}`).toEqual(
        OUTPUT,
      );
      const again = readFileSync(join(cli.path, "did"), "utf8").slice(before.length).trim().split("\n");
      const recorded = completedIn(shown.stdout);
      expect(
        again.filter((name) => recorded.has(name)),
        `killed at ${killAt}`,
      ).toEqual([]);
    }
  });
});

/** What the program writes down for the jobs that were completed. */
function completedIn(text: string): Set<string> {
  const { jobs } = JSON.parse(text) as { jobs: { step: string; scope: string; status: string }[] };
  const done = jobs.filter(({ status }) => status === "completed");
  const items = ["x", "y", "z"];
  return new Set(
    done.map(({ step, scope }) => {
      const index = /\[(\d)\]$/.exec(scope)?.[1];
      return index === undefined ? step : `${step} ${items[Number(index)]}`;
    }),
  );
}
