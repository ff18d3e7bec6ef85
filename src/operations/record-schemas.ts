import { z } from "zod";
import { ANY_FAILURE } from "../core/model/failure.js";
import { zodOf } from "../run/worker/zod-of.js";
import { WAITING_JOB } from "../tell/holds.js";
import { JOB_RECORD } from "../tell/job-record.js";
import { recordOf } from "./schemas.js";

/** The record of a failure. */
export const error = zodOf(ANY_FAILURE, { others: "dropped" });
z.globalRegistry.add(error, {
  id: "ErrorRecord",
  description: "A failure. The record is the same wherever it is shown.",
});

/** A job, the same in every answer. */
export const job = recordOf(JOB_RECORD);

export const waitingJob = recordOf(WAITING_JOB);
export const { expiry } = waitingJob.shape;
