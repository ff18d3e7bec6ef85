import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { LiveServers } from "../support/live-server.js";
import { makeDemo } from "../support/page-demo.js";
import { makeHistory } from "../support/page-history.js";
import { PICTURES } from "../support/page-pictures.js";
import { repositoryRoot } from "../support/repository-root.js";

const FOLDER = join(repositoryRoot, "docs/pictures");
/** Pictures change with every pixel: they are made only when somebody wants them. */
const isAsked = process.env.UPDATE_PICTURES === "1";
const WIDTHS = [1440, 1280, 390];
const THEMES = ["light", "dark"];
const ALL = THEMES.flatMap((theme) => WIDTHS.map((width) => ({ theme, width })));
/** Every width and every theme, in half the time. */
const SOME = [
  { theme: "light", width: 1440 },
  { theme: "dark", width: 1280 },
  { theme: "light", width: 390 },
];
const MAX_PICTURE_BYTES = 70_000;

const servers = new LiveServers();
const browser = new TestBrowser();

/** So that there is something to tell of. */
const TOLD = {
  channels: [{ name: "ops", type: "command", timeoutMs: 10_000, command: ["cat"], env: [] }],
  notify: [{ on: ["held", "failed"], to: ["ops"], when: null }],
} as const;

const HOSTS = `[...new Set(performance.getEntriesByType("resource").map(({ name }) => new URL(name).host))]`;
const MAX_FIRST_LOAD_BYTES = 250_000;
/** As they came, compressed; what the API answers is not the page. */
const LOADED = `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter(({ name }) => !name.includes("/api/"))
  .map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize])`;

describe.skipIf(!hasBrowser)(browserSuite("every page"), { timeout: 600_000 }, () => {
  it("is shown with live data at every width in both themes, fits, and no browser complains", {
    tags: ["P11"],
  }, async () => {
    const server = await servers.start(TOLD);
    if (isAsked) await makeHistory(server);
    const demo = await makeDemo(server);
    for (const { theme, width } of isAsked ? ALL : SOME) {
      const page = await browser.open(demo.server.url, { theme, width });
      for (const { name, at, shows } of PICTURES) {
        await page.goto(`${demo.server.url}/#/${at(demo)}`);
        await page.getByText(shows).locator("visible=true").first().waitFor();
        expect(browser.complaints.splice(0), name).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth"), name).toBeLessThanOrEqual(width);
        if (isAsked) writePicture(`${name}-${width}-${theme}.webp`, await pictureOf(page));
      }
      await page.close();
    }
    await demo.close();
  });

  it("starts from less than 250 KB, all of it its own, and runs nothing that stands in a text", {
    tags: ["P12", "P13"],
  }, async () => {
    const { url } = await servers.start();
    const page = await browser.open(url);
    const policy = (await page.request.get(url)).headers()["content-security-policy"]!;
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe");
    await page.locator("main h2").first().waitFor();
    const loaded = (await page.evaluate(LOADED)) as [file: string, bytes: number][];
    expect(loaded.map(([file]) => file.replace(/-[^.]+/, ""))).toEqual(
      expect.arrayContaining(["/", "/assets/index.js", "/assets/index.css"]),
    );
    expect((await page.evaluate(HOSTS)) as string[]).toEqual([new URL(url).host]);
    const bytes = loaded.reduce((sum, [, size]) => sum + size, 0);
    expect(bytes, JSON.stringify(loaded)).toBeGreaterThan(10_000);
    expect(bytes, JSON.stringify(loaded)).toBeLessThan(MAX_FIRST_LOAD_BYTES);
  });
});

function writePicture(name: string, bytes: Buffer): void {
  expect(bytes.length, name).toBeLessThan(MAX_PICTURE_BYTES);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, name), bytes);
}

/** Chromium writes WebP itself, at a third of the size of PNG; as well as it can within the limit. */
async function pictureOf(page: Page): Promise<Buffer> {
  await page.evaluate(QUIET);
  const session = await page.context().newCDPSession(page);
  let bytes = Buffer.alloc(0);
  for (const quality of [80, 65, 50, 35]) {
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality });
    bytes = Buffer.from(data, "base64");
    if (bytes.length < MAX_PICTURE_BYTES) break;
  }
  await session.detach();
  return bytes;
}

/** What is loaded on demand has come, and is drawn: for a while nothing has changed. */
const QUIET = `new Promise((resolve) => {
  let timer = setTimeout(resolve, 700);
  const again = () => { clearTimeout(timer); timer = setTimeout(resolve, 700); };
  new MutationObserver(again).observe(document.body, { subtree: true, childList: true, attributes: true });
})`;
