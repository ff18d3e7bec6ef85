/** What max_loops bounds. */
export type LoopTransition = "retry" | "remediate" | "goto" | "edge" | "on_success.goto" | "on_success.edge";

/** Going back, by a failure, a success or an operator, and the end of going back. */
export type GotoEvent =
  | {
      readonly type: "goto.taken";
      readonly job: number;
      readonly attempt: number;
      readonly target: number;
      readonly to: string;
      readonly trigger: "failure" | "success";
      /** Which goto of the job after this outcome it is, and how many it may take; older logs do not say. */
      readonly goto?: number;
      readonly max?: number | null;
      /** Which loop of the scope it is. */
      readonly loop: number;
      readonly reason: string;
    }
  | {
      readonly type: "operator.goto";
      readonly target: number;
      readonly to: string;
      /** The target and all that depends on it: they begin again, with their gotos. Missing in older logs. */
      readonly jobs?: readonly number[];
      readonly reason: string;
      readonly key: string | null;
    }
  | {
      readonly type: "barrier.opened";
      readonly barrier: number;
      readonly target: number;
      readonly forced: boolean;
      readonly from: number | null;
      readonly edge: number | null;
      readonly members: readonly number[];
      readonly merged: readonly number[];
    }
  | {
      readonly type: "barrier.closed";
      readonly barrier: number;
      readonly invalidated: readonly number[];
      readonly retired: readonly number[];
    }
  | {
      readonly type: "loop.exceeded";
      readonly job: number;
      readonly scope: string;
      readonly transition: LoopTransition;
      /** What was compared with `max`: loops of the scope, and for a retry the retries of this job in this run too. */
      readonly count: number;
      /** The retries among `count`; missing in older logs. */
      readonly retries?: number;
      readonly max: number;
    };
