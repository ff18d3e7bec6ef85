import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { openInFreshSchema } from "../support/embedded-postgres.js";
import { openInFreshFolder } from "./sqlite-folder.js";
import { storeContract } from "./store-contract.js";

storeContract("memory store", async () => {
  const store = createMemoryStore();
  return {
    store,
    reopen: async () => {
      await store.close();
      return store.reopen();
    },
    dispose: () => store.close(),
  };
});

storeContract("SQLite store", openInFreshFolder);

storeContract("PostgreSQL store", openInFreshSchema);
