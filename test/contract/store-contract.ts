import { afterEach, beforeEach, describe } from "vitest";
import type { Store } from "../../src/store/store.js";
import { bookContract } from "./book-contract.js";
import { campaignContract } from "./campaign-contract.js";
import { causeContract } from "./cause-contract.js";
import { changeContract } from "./change-contract.js";
import { checkpointContract } from "./checkpoint-contract.js";
import { claimContract } from "./claim-contract.js";
import { clusterContract } from "./cluster-contract.js";
import { commitContract } from "./commit-contract.js";
import { countContract } from "./count-contract.js";
import { deleteContract } from "./delete-contract.js";
import { draftContract } from "./draft-contract.js";
import { failureHandlerContract } from "./failure-handler-contract.js";
import { inboxContract } from "./inbox-contract.js";
import { inspectContract } from "./inspect-contract.js";
import { jobContract } from "./job-contract.js";
import { leaseContract } from "./lease-contract.js";
import { outboxContract } from "./outbox-contract.js";
import { placeContract } from "./place-contract.js";
import { readContract } from "./read-contract.js";
import { searchContract } from "./search-contract.js";
import { serverContract } from "./server-contract.js";
import { sharedContract } from "./shared-contract.js";
import { snapshotContract } from "./snapshot-contract.js";
import { tokenContract } from "./token-contract.js";
import { waitingContract } from "./waiting-contract.js";
import { workflowContract } from "./workflow-contract.js";

export interface OpenedStore {
  readonly store: Store;
  /** Close the store and open the same data again. */
  reopen(): Promise<Store>;
  dispose(): Promise<void>;
}

/** What every store must do, told once. Each test gets an empty store. */
export interface StoreUnderTest {
  readonly store: Store;
  reopen(): Promise<Store>;
}

export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(name, () => {
    let opened: OpenedStore | null = null;
    const current = (): OpenedStore => {
      if (opened === null) throw new Error("no store is open");
      return opened;
    };
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      await opened?.dispose();
    });
    const underTest: StoreUnderTest = {
      get store() {
        return current().store;
      },
      reopen: () => current().reopen(),
    };
    commitContract(underTest);
    causeContract(underTest);
    readContract(underTest);
    searchContract(underTest);
    workflowContract(underTest);
    draftContract(underTest);
    failureHandlerContract(underTest);
    jobContract(underTest);
    leaseContract(underTest);
    claimContract(underTest);
    sharedContract(underTest);
    outboxContract(underTest);
    waitingContract(underTest);
    placeContract(underTest);
    checkpointContract(underTest);
    snapshotContract(underTest);
    inboxContract(underTest);
    deleteContract(underTest);
    tokenContract(underTest);
    clusterContract(underTest);
    serverContract(underTest);
    bookContract(underTest);
    countContract(underTest);
    campaignContract(underTest);
    changeContract(underTest);
    inspectContract(underTest);
  });
}
