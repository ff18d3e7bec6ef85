import { findFaults } from "./faults.js";
import { Simulation } from "./simulation.js";

/** A process of `scripts/sim.mjs`: it is sent one seed at a time and answers with what is wrong with its story. */
interface Checker {
  findFaults(seed: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

const stories: Checker = {
  findFaults: async (seed) => findFaults(await new Simulation(seed).run()),
  close: async () => {},
};

/** The databases are loaded only where they are compared. */
async function comparison(): Promise<Checker> {
  const { setup } = await import("../support/embedded-postgres.js");
  const removeServer = setup();
  const { ComparedStores } = await import("./compared-stores.js");
  const stores = await ComparedStores.open();
  return {
    findFaults: (seed) => stores.findFaults(seed),
    close: async () => {
      await stores.close();
      await removeServer();
    },
  };
}

const checker = process.argv[2] === "stores" ? await comparison() : stories;
process.on("message", (seed: number) => {
  const faults = checker.findFaults(seed).catch((error: Error) => [error.stack ?? error.message]);
  void faults.then((found) => process.send!({ faults: found }));
});
process.on("disconnect", () => void checker.close());
process.send!("ready");
