import { describe, expect, it } from "vitest";
import { browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { LiveServers } from "../support/live-server.js";

const servers = new LiveServers();
const browser = new TestBrowser();

/** It turns the order of all that follows it in its line. */
const RLO = "\u202e";
const SAID = `<img src=x onerror=document.title=1>${RLO}gpj.exe`;
const HOSTILE = `name: hostile
description: ${JSON.stringify(SAID)}
labels: { by: ${JSON.stringify(`<b>${RLO}bal`)} }
unhandled: hold
inputs: { text: { type: string, default: ${JSON.stringify(SAID)}, description: ${JSON.stringify(SAID)} } }
steps:
  make: { type: script, content: ${JSON.stringify(`return { text: ${JSON.stringify(SAID)} }`)} }
  bad: { exec: ${JSON.stringify(`echo 'Error: ${SAID}' >&2; exit 3`)}, depends_on: [make] }
  ask: { type: human, prompt: ${JSON.stringify(SAID)}, choices: [${JSON.stringify(`<i>yes${RLO}`)}, "no"] }
  after: { type: noop, depends_on: [bad] }
transitions:
  - { from: bad, to: after, on: failure, when: ${JSON.stringify(`error.message == '${SAID}'`)} }
`;

/** Texts and attributes of the page that such a character stands in, also behind shadow roots. */
const TURNED = `(() => {
  const found = [];
  const turns = /[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/;
  const look = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        if (turns.test(node.data)) found.push(node.parentElement.outerHTML.slice(0, 120));
        continue;
      }
      for (const { name, value } of node.attributes)
        if (name !== "href" && turns.test(value)) found.push(name + "=" + value.slice(0, 80));
      if (node.shadowRoot !== null) look(node.shadowRoot);
    }
  };
  look(document.body);
  return found;
})()`;

describe.skipIf(!hasBrowser)(browserSuite("what others wrote"), { timeout: 300_000 }, () => {
  it("is text on every page, and what would turn its order is a mark", { tags: ["P10"] }, async () => {
    const server = await servers.start();
    const run = await server.run(HOSTILE);
    await expect.poll(async () => (await server.running.store.readRun(run))!.waiting).toBe(2);
    const address = "/api/v1/workflows/hostile";
    await server.ask("PUT", `${address}/draft`, { body: { source: HOSTILE } });
    await server.ask("POST", `${address}/publish`, { body: {} });
    const page = await browser.open(server.url);
    const shown = {
      "inbox?kind=question": "asks: <i>yes[RLO] or no",
      "inbox?kind=hold": "gpj.exe",
      runs: "by=<b>[RLO]bal",
      [`runs/${run}`]: "by=<b>[RLO]bal",
      [`runs/${run}?tab=events`]: "job.held",
      [`runs/${run}?tab=state`]: '{"text":"<img src=x onerror=document.title=1>[RLO]gpj.exe"}',
      [`runs/${run}/bad`]: "Error: <img src=x onerror=document.title=1>",
      [`runs/${run}/bad?tab=definition`]: "RLO",
      [`runs/${run}/make?tab=output`]: "RLO",
      "workflows/hostile/edit": "RLO",
      "workflows/hostile/start": "<img src=x onerror=document.title=1>[RLO]gpj.exe",
      statistics: "gpj.exe",
    };
    const found: { [at: string]: unknown } = {};
    for (const [at, words] of Object.entries(shown)) {
      await page.goto(`${server.url}/#/${at}`);
      await page.getByText(words).locator("visible=true").first().waitFor();
      const turned = (await page.evaluate(TURNED)) as string[];
      const made = await page.locator("main img[src], main script").count();
      if (turned.length > 0 || made > 0) found[at] = { turned, made };
      expect(await page.title()).toContain("Daruma");
    }
    expect(found).toEqual({});
    expect(browser.complaints).toEqual([]);
  });
});
