import { ROUTE_ENDS } from "../../core/model/route.js";
import { oneOf } from "../read/schema-scalars.js";

/** What becomes of a failure whose route has completed: of a transition, wherever it is written. */
export const routeEnd = oneOf(ROUTE_ENDS);
export const ROUTE_END_DOC =
  "What becomes of the steps that depend on the failed one when its route has completed. `skip`, the default: they are skipped. `continue`: they run, with the output of the step that stood in. `fail`: they are canceled and the run fails.";
