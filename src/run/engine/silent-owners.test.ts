import { expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { SILENT_MS, SilentOwners } from "./run-claimer.js";

const owner = (engine: string) => ({ host: "h", bootId: "b", pid: 1, processStart: "0", engine });

it("an owner who renews nothing is silent after ten minutes, whatever the clock on the wall says", () => {
  const clock = new ManualClock();
  const owners = new SilentOwners(clock);
  const look = (mark: number) => [
    ...owners.among([
      { owner: owner("gone"), mark: 9_000 },
      { owner: owner("lives"), mark },
    ]),
  ];
  expect(look(1)).toEqual([]);
  clock.set(-3 * 3_600_000);
  clock.advance(SILENT_MS - 1);
  expect(look(2)).toEqual([]);
  clock.advance(1);
  expect(look(2)).toEqual(["gone"]);
  expect([...owners.among([])]).toEqual([]);
  expect(look(2)).toEqual([]);
});

it("a server with longer leases waits longer", () => {
  const clock = new ManualClock();
  const owners = new SilentOwners(clock, SILENT_MS);
  const look = () => owners.among([{ owner: owner("gone"), mark: 1 }]).size;
  look();
  clock.advance(3 * SILENT_MS - 1);
  expect(look()).toBe(0);
  clock.advance(1);
  expect(look()).toBe(1);
});
