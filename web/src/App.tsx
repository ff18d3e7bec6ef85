import { lazy, type ReactNode, Suspense, useEffect, useSyncExternalStore } from "react";
import { api, dataOf, type Problem } from "./api/client.js";
import { stream } from "./api/stream.js";
import { useLive } from "./api/use-live.js";
import { Inbox } from "./pages/Inbox.js";
import { RunPage } from "./pages/RunPage.js";
import { Runs } from "./pages/Runs.js";
import { SignIn } from "./pages/SignIn.js";
import { StepPage } from "./pages/StepPage.js";
import { WorkflowPages } from "./pages/Workflows.js";
import { showFavicon } from "./parts/appearance.js";
import { Empty, Skeleton } from "./parts/Notice.js";
import { Shell } from "./parts/Shell.js";
import { addressOf, type Place } from "./place.js";
import { usePlace } from "./use-place.js";
import type { Problems } from "./words/problems.js";
import { zone } from "./words/times.js";

export interface Who {
  readonly name: string;
  readonly role: "viewer" | "worker" | "operator" | "admin";
}

/** Shows the page for the present address. The rail's count and the inbox use the same list, so they cannot differ. */
export function App(): ReactNode {
  const place = usePlace();
  // Renders everything again when the time zone changes, because times are everywhere.
  useSyncExternalStore(zone.watch, zone.get);
  const who = useLive(
    "whoami",
    () => dataOf(api.GET("/api/v1/whoami")),
    () => false,
  );
  const problems = useLive(
    "problems",
    () => dataOf(api.GET("/api/v1/problems", { params: { query: PROBLEMS } })),
    () => true,
  );
  const active = useLive(
    "active",
    () => dataOf(api.GET("/api/v1/runs", { params: { query: { status: "running", limit: 1 } } })),
    () => true,
  );
  const isStreamRefused = useSyncExternalStore(stream.watch, () => stream.state.refused);
  const refused = isStreamRefused || [who.problem, problems.problem].some(needsToken);
  const isIn = who.data !== null && !refused;
  useEffect(() => {
    if (isIn) stream.start();
  }, [isIn]);
  const waiting = problems.data?.total ?? 0;
  const isBusy = (active.data?.items.length ?? 0) > 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${titleOf(place)} · Daruma`;
    showFavicon(waiting > 0 ? "waiting" : isBusy ? "busy" : "calm");
  });
  const reload = (): void => {
    stream.start();
    who.reload();
    problems.reload();
    active.reload();
  };
  return (
    <Shell place={place} who={who.data} waiting={waiting} mayAct={mayActAs(who.data)}>
      <Page
        place={place}
        problems={problems.data}
        problem={problems.problem}
        who={who.data}
        reload={problems.reload}
      />
      {refused && <SignIn onSignedIn={reload} />}
    </Shell>
  );
}

function mayActAs(who: Who | null): boolean {
  return who !== null && who.role !== "viewer" && who.role !== "worker";
}

/** The query for the inbox. The rail shows the number of its results, and a decision names the jobs in it. */
const PROBLEMS = { limit: 200, items: 100 };

function needsToken(problem: Problem | null): boolean {
  return problem?.status === 401;
}

function titleOf({ path: [first = "inbox", run, step] }: Place): string {
  if (first === "runs" && step !== undefined) return `${step}, run ${run}`;
  if (first === "runs" && run !== undefined) return `Run ${run}`;
  if (first === "workflows" && run !== undefined) return run;
  return first[0]!.toUpperCase() + first.slice(1);
}

const Statistics = lazy(async () => ({ default: (await import("./pages/Statistics.js")).Statistics }));
const Schedules = lazy(async () => ({ default: (await import("./pages/Schedules.js")).Schedules }));
const Notifications = lazy(async () => ({
  default: (await import("./pages/Notifications.js")).Notifications,
}));
const Settings = lazy(async () => ({ default: (await import("./pages/Settings.js")).Settings }));
const Workers = lazy(async () => ({ default: (await import("./pages/Workers.js")).Workers }));

/** Shows a skeleton for pages that are loaded on demand. */
function Later({ children }: { readonly children: ReactNode }): ReactNode {
  return <Suspense fallback={<Skeleton />}>{children}</Suspense>;
}

interface PageProps {
  readonly place: Place;
  readonly problems: Problems | null;
  readonly problem: Problem | null;
  readonly who: Who | null;
  readonly reload: () => void;
}

function Page({ place, problems, problem, who, reload }: PageProps): ReactNode {
  const [first, run, step] = place.path;
  const mayAct = mayActAs(who);
  if (first === "runs" && run !== undefined && step !== undefined)
    return <StepPage key={`${run}/${step}`} runId={Number(run)} step={step} place={place} mayAct={mayAct} />;
  if (first === "runs" && run !== undefined)
    return <RunPage key={run} runId={Number(run)} place={place} mayAct={mayAct} />;
  if (first === "statistics")
    return (
      <Later>
        <Statistics place={place} />
      </Later>
    );
  if (first === "workers")
    return (
      <Later>
        <Workers mayAct={mayAct} />
      </Later>
    );
  if (first === "notifications")
    return (
      <Later>
        <Notifications place={place} mayAct={mayAct} />
      </Later>
    );
  if (first === "settings")
    return (
      <Later>
        <Settings />
      </Later>
    );
  if (first === "schedules")
    return (
      <Later>
        <Schedules mayAct={mayAct} />
      </Later>
    );
  if (first === "runs") return <Runs place={place} />;
  if (first === "workflows") return <WorkflowPages place={place} mayAct={mayAct} />;
  if (first !== undefined && first !== "inbox")
    return (
      <Empty title="There is no such page">
        Is the address complete? <a href={addressOf(["inbox"])}>Go to the inbox</a>
      </Empty>
    );
  return <Inbox place={place} problems={problems} refusal={problem} mayAct={mayAct} reload={reload} />;
}
