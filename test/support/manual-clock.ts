export { ManualClock } from "../../src/flow/testing/manual-clock.js";
