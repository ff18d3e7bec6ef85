import { z } from "zod";

export const interrupted = z
  .boolean()
  .describe(
    "The run wants an engine and nobody runs it: its process ended. Derived at the moment of asking; `status` stays what the log says.",
  );

export const imported = z
  .boolean()
  .describe("It was imported: it can only be read, and nothing of it is executed.");
