import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";

const browser = new TestBrowser();
const servers = new LiveServers({ perFile: true });
const folder = mkdtempSync(join(tmpdir(), "daruma-motion-"));
let server: LiveServer;

/** What moves, or has moved, in the parts of a page. */
async function motionsOf(page: Page, where: string): Promise<string[]> {
  const names = (await page.evaluate(
    `[...document.querySelectorAll("${where}, ${where} *")].map((each) => getComputedStyle(each).animationName)`,
  )) as string[];
  return [...new Set(names.filter((name) => name !== "none"))].sort();
}

describe.skipIf(!hasBrowser)(browserSuite("what moves on the page"), { timeout: 300_000 }, () => {
  beforeAll(async () => {
    server = await servers.start();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it.each([
    { exit: 0, status: "completed", motion: "no-preference", after: ["paint", "settle"] },
    { exit: 3, status: "failed", motion: "no-preference", after: ["fall"] },
    { exit: 0, status: "completed", motion: "reduce", after: [] },
  ] as const)(
    "a run that ends $status, $motion",
    { tags: ["P21"] },
    async ({ exit, status, motion, after }) => {
      const file = join(folder, `${status} ${motion}`);
      const exec = `until [ -e '${file}' ]; do sleep 0.05; done; exit ${exit}`;
      const run = await server.run(`name: rocks\nsteps: { a: { exec: ${JSON.stringify(exec)} } }\n`);
      await server.until(run, "running");
      const page = await browser.open(`${server.url}/#/runs/${run}`, { motion });
      const moves = motion !== "reduce";
      const graph = page.getByRole("region", { name: "Graph" });
      await graph.getByRole("link", { name: /^a\s*running/ }).waitFor();
      await page.locator(".runhead .doll.d-running").waitFor();
      expect(await motionsOf(page, ".runhead .doll")).toEqual(moves ? ["sway"] : []);
      expect(await motionsOf(page, ".node .flash")).toEqual([]);
      writeFileSync(file, "");
      await page.locator(`.runhead .doll.d-${status}`).waitFor();
      await graph.getByRole("link", { name: new RegExp(`^a\\s*${status}`) }).waitFor();
      expect(await motionsOf(page, ".runhead .doll")).toEqual(after);
      expect(await motionsOf(page, ".node .flash")).toEqual(moves ? ["flash"] : []);
      // Who comes later sees how it ended, not that it has just happened.
      await page.reload();
      await page.locator(`.runhead .doll.d-${status}`).waitFor();
      await graph.getByRole("link", { name: new RegExp(`^a\\s*${status}`) }).waitFor();
      expect(await motionsOf(page, "main")).toEqual([]);
    },
  );
});
