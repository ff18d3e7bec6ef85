import { createMemoryStore } from "../../src/store/memory/memory-store.js";
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
