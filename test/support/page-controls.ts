import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** By what it says, with its key or without. */
export function button(page: Page, name: string): Locator {
  return page.getByRole("button", { name: new RegExp(`^${name}( ?[A-Z])?$`) });
}

/** Why a control does nothing now. */
export async function refuses(page: Page, name: string, why: RegExp | string): Promise<void> {
  const reason = async (): Promise<string> => {
    const id = await button(page, name).getAttribute("aria-describedby");
    return id === null ? "it can be used" : ((await page.locator(`[id="${id}"]`).textContent()) ?? "");
  };
  const told = expect.poll(reason);
  await (typeof why === "string" ? told.toBe(why) : told.toMatch(why));
}

export async function untilUsable(page: Page, name: string): Promise<void> {
  const isUsable = async () => (await button(page, name).getAttribute("aria-disabled")) === "false";
  await expect.poll(isUsable).toBe(true);
}
