import { openInFreshSchema } from "../support/embedded-postgres.js";
import { openInFreshFolder } from "./sqlite-folder.js";
import { storeContract } from "./store-contract.js";

storeContract("SQLite store", openInFreshFolder);

storeContract("PostgreSQL store", openInFreshSchema);
