// Stands in for a coding agent that gets stuck, so that self-heal.yaml runs offline. What it does depends on what it finds
// alone: a lock that it forgot keeps it waiting for ever, and it learns only from being told that it has failed.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const LOCK = ".agent.lock";
const prompt = readFileSync(0, "utf8");

if (existsSync(LOCK)) {
  console.log("Somebody else is editing. I wait until the lock is gone.");
  setInterval(() => {}, 60_000);
} else if (prompt.startsWith("DARUMA_RETRY_CONTEXT")) {
  console.log("Last time I went round in circles. This time I just write it.");
  writeFileSync("title.txt", "Fall seven times, stand up eight\n");
} else {
  writeFileSync(LOCK, "");
  for (let round = 1; round <= 3; round += 1)
    console.log(`Round ${round}: I read title.txt. Let me read it again.`);
  console.error("review: the title has not changed");
  process.exitCode = 1;
}
