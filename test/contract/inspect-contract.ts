import { expect, test } from "vitest";
import type { StoreUnderTest } from "./store-contract.js";

export function inspectContract(under: StoreUnderTest): void {
  test("a store says of itself that it is whole and of the newest version", async () => {
    const found = await under.store.inspect(true);
    expect(found).toMatchObject({ version: found.newestVersion, problems: [], checked: true });
    expect(found.place).not.toContain("password");
    // It can be asked while it is at work.
    await under.store.reserveRunId();
    expect(await under.store.inspect(false)).toMatchObject({ problems: [] });
  });
}
