import { api, dataOf } from "../../api/client.js";
import { type Live, useLive } from "../../api/use-live.js";

/** The run and moment that the page shows. `at` is an event in the past; null means now. */
export interface RunMoment {
  readonly runId: number;
  readonly at: number | null;
}

const past = (at: number | null): { at?: number } => (at === null ? {} : { at });

const readRun = ({ runId, at }: RunMoment) =>
  dataOf(
    api.GET("/api/v1/runs/{run_id}", {
      params: { path: { run_id: runId }, query: { jobs: "none", ...past(at) } },
    }),
  );

const readStory = ({ runId, at }: RunMoment) =>
  dataOf(
    api.GET("/api/v1/runs/{run_id}/explanation", {
      params: { path: { run_id: runId }, query: past(at) },
    }),
  );

const readTimeline = (runId: number) =>
  dataOf(api.GET("/api/v1/runs/{run_id}/timeline", { params: { path: { run_id: runId } } }));

const readGraph = async ({ runId, at }: RunMoment) => {
  const { graph } = await dataOf(
    api.POST("/api/v1/workflows/graph", { body: { run_id: runId, format: "json", ...past(at) } }),
  );
  return graph!;
};

export const readControls = (runId: number, step: string | null) =>
  dataOf(
    api.GET("/api/v1/runs/{run_id}/controls", {
      params: { path: { run_id: runId }, query: step === null ? {} : { step_id: step } },
    }),
  );

export type RunSummary = Awaited<ReturnType<typeof readRun>>;
export type RunStory = Awaited<ReturnType<typeof readStory>>;
export type Told = RunStory["recoveries"][number];
export type TimelineData = Awaited<ReturnType<typeof readTimeline>>;
export type TimelineRow = TimelineData["rows"][number];
export type Drawing = Awaited<ReturnType<typeof readGraph>>;
export type DrawnNode = Drawing["nodes"][number];
export type DrawnEdge = Drawing["edges"][number];
export type ControlList = Awaited<ReturnType<typeof readControls>>;
export type Control = ControlList["items"][number];

const nowhere = (): boolean => false;
/** The past does not change, so no run's event concerns it. */
const concerns = ({ runId, at }: RunMoment) => (at === null ? (id: number) => id === runId : nowhere);
const keyOf = (what: string, { runId, at }: RunMoment): string => `${what} ${runId} ${at ?? "now"}`;

export const useRun = (runId: number): Live<RunSummary> =>
  useLive(
    `run ${runId}`,
    () => readRun({ runId, at: null }),
    (id) => id === runId,
  );

/** The run as it was; null while the present is shown. */
export const usePastRun = (moment: RunMoment): Live<RunSummary | null> =>
  useLive(
    keyOf("past run", moment),
    () => (moment.at === null ? Promise.resolve(null) : readRun(moment)),
    nowhere,
  );

export const useStory = (moment: RunMoment): Live<RunStory> =>
  useLive(keyOf("story", moment), () => readStory(moment), concerns(moment));

export const useDrawing = (runId: number): Live<Drawing> =>
  useLive(
    `graph ${runId}`,
    () => readGraph({ runId, at: null }),
    (id) => id === runId,
  );

/** The graph as it was; null while the present is shown. */
export const usePastDrawing = (moment: RunMoment): Live<Drawing | null> =>
  useLive(
    keyOf("past graph", moment),
    () => (moment.at === null ? Promise.resolve(null) : readGraph(moment)),
    nowhere,
  );

/** The timeline of the whole log, whatever moment is shown. */
export const useTimeline = (runId: number): Live<TimelineData> =>
  useLive(
    `timeline ${runId}`,
    () => readTimeline(runId),
    (id) => id === runId,
  );

export const useControls = (runId: number, step: string | null): Live<ControlList> =>
  useLive(
    `controls ${runId} ${step ?? ""}`,
    () => readControls(runId, step),
    (id) => id === runId,
  );
