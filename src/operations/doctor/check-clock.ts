import { durationAmount } from "../../core/text/amount-text.js";
import { iso } from "../../tell/run-report.js";
import { type Check, ok, warning } from "./check.js";

/** Two clocks that are looked at one after the other never say the same. */
const TOLERATED_MS = 5_000;
const SET_IT = "Set the clock, and keep it right with NTP (chrony or systemd-timesyncd).";

export const checkClock: Check = {
  name: "clock",
  async run({ store, now }) {
    const before = now();
    const { at } = await store.readShared("server", [], before);
    const after = now();
    const apart = at < before ? at - before : at > after ? at - after : 0;
    const [newest] = await store.listRuns({ limit: 1 });
    if (Math.abs(apart) > TOLERATED_MS)
      return [
        warning(
          `this machine's clock is ${durationAmount(Math.round(Math.abs(apart) / 1_000) * 1_000)} ${apart > 0 ? "behind" : "ahead of"} the store's`,
          SET_IT,
        ),
      ];
    if (newest !== undefined && newest.created_at > after + TOLERATED_MS)
      return [
        warning(
          `run ${newest.id} was made at ${iso(newest.created_at)}, which is in the future: the clock was set back`,
          SET_IT,
        ),
      ];
    return [ok(`${iso(after)}, as the store has it`)];
  },
};
