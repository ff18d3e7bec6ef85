import { type ReactNode, useEffect, useId, useMemo, useState } from "react";
import { nameOf } from "../../../../src/tell/lookup/job-name.js";
import type { Problem as Refusal } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Keys } from "../../keys/KeysOverlay.js";
import { useKeys } from "../../keys/use-keys.js";
import { Confirm } from "../../parts/Confirm.js";
import { HintField } from "../../parts/HintField.js";
import { sentence } from "../../words/moment.js";
import type { Problem } from "../../words/problems.js";
import { withMarks } from "../../words/unseen.js";
import { readControls } from "../run/run-data.js";
import {
  type Action,
  buttonWords,
  decide,
  doneWords,
  HARD_RESET,
  needsWorkspace,
  type Outcome,
  type Wish,
} from "./actions.js";
import { Preview } from "./Preview.js";

type Job = Wish["jobs"][number];

interface PlanProps {
  readonly problems: readonly Problem[];
  readonly jobs: readonly Job[];
  readonly actions: readonly Action[];
  /** The choices of a question, which replace the actions. */
  readonly choices?: readonly string[];
  readonly onLeaveOut: (jobs: readonly number[]) => void;
  readonly onDecided: (words: string) => void;
}

const PREVIEW_MS = 250;

/** A form for a decision: choose an action, type a reason, see what a dry run predicts, and send it with one button. */
export function Plan(props: PlanProps): ReactNode {
  const { problems, jobs, actions, choices, onLeaveOut, onDecided } = props;
  const isQuestion = choices !== undefined;
  const [action, setAction] = useState<Action | null>(isQuestion ? null : (actions[0] ?? null));
  const [choice, setChoice] = useState<string | null>(null);
  const [reason, setReason] = useState("");
  const [more, setMore] = useState("");
  const [hint, setHint] = useState("");
  const [asks, setAsks] = useState(false);
  const [sending, setSending] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  // Made when the panel opens, so that a repeated request takes effect only once.
  const key = useMemo(() => crypto.randomUUID(), []);
  const name = isQuestion ? "answer" : (action?.name ?? "retry");
  const wish: Wish = {
    jobs,
    action: name,
    reason,
    ...(name === "complete" ? { output: more } : {}),
    ...(name === "resume_from" ? { step: more } : {}),
    ...(action?.takesHint === true ? { hint } : {}),
    ...(choice === null ? {} : { choice, text: reason }),
  };
  const isChosen = isQuestion ? choice !== null : action !== null;
  const { outcome, problem } = usePreview(wish, key, isChosen && jobs.length > 0);
  const runs = new Set(jobs.map(({ run_id }) => run_id)).size;
  const isReady = outcome?.results.every(({ ok }) => ok);
  const why = whyNot({
    isChosen,
    jobs: jobs.length,
    isReady,
    sending,
    isAsked: outcome !== null || problem !== null,
  });
  const send = async (): Promise<void> => {
    setAsks(false);
    setSending(true);
    try {
      const done = await decide(wish, key, false);
      const refused = done.results.filter(({ ok }) => !ok).length;
      onDecided(choice === null ? doneWords(name, runs - refused) : `Answered: ${withMarks(choice)}`);
    } catch (error) {
      setRefusal(error as Refusal);
    }
    setSending(false);
  };
  const press = (): void => {
    if (why !== null) return;
    if (action?.destroys === true) setAsks(true);
    else void send();
  };
  const choose = (next: Action): void => {
    setRefusal(null);
    setMore("");
    setAction(next);
  };
  const kind = problems[0]!.kind;
  const hasReset = !isQuestion && problems.length === 1 && needsWorkspace(kind);
  const whyNoReset = useWhyNoReset(hasReset ? problems[0]! : null);
  useKeys("Decision", [
    ...actions.flatMap((each) =>
      each.key === null || (problems.length > 1 && each.alone === true)
        ? []
        : [{ keys: each.key, does: each.words.toLowerCase(), run: () => choose(each) }],
    ),
    ...(hasReset && whyNoReset === null
      ? [{ keys: "h", does: "hard reset", run: () => choose(HARD_RESET) }]
      : []),
    ...(choices ?? []).slice(0, 9).map((each, index) => ({
      ...{ keys: String(index + 1), does: `answer ${withMarks(each)}`, run: () => setChoice(each) },
    })),
    { keys: "mod+enter", does: "send the decision", run: press, inFields: true as const },
  ]);
  const words = isQuestion
    ? `Answer${choice === null ? "" : ` ${withMarks(choice)}`}`
    : buttonWords(action ?? actions[0]!, runs, problems.length);
  return (
    <section className="resolve" aria-label="Decide">
      {isQuestion ? (
        <Choices choices={choices} chosen={choice} onChoose={setChoice} />
      ) : (
        <Acts actions={actions} chosen={action} several={problems.length > 1} onChoose={choose} />
      )}
      <div className="form">
        {name === "complete" && (
          <Field
            label="Output"
            value={more}
            onChange={setMore}
            hint='JSON, such as {"rows": 0}; empty: null'
          />
        )}
        {name === "resume_from" && (
          <Field
            label="Step"
            value={more}
            onChange={setMore}
            hint="to go back to; empty: the failed step itself"
          />
        )}
        {action?.takesHint === true && <HintField value={hint} onChange={setHint} />}
        <Field label={isQuestion ? "Comment" : "Reason"} value={reason} onChange={setReason} />
        {isChosen && (
          <Preview
            action={name}
            outcome={outcome}
            refusal={refusal ?? problem}
            runs={runs}
            blocked={problems.length === 1 ? problems[0]!.blocks.names : []}
            onLeaveOut={onLeaveOut}
          />
        )}
        <p className="small dim only-s">{keptText(name, runs)}</p>
        <div className="row wrap">
          <span className="small dim grow hide-s">{keptText(name, runs)}</span>
          {hasReset && (
            <button
              type="button"
              className="btn"
              aria-pressed={action === HARD_RESET}
              aria-disabled={whyNoReset !== null}
              aria-description={whyNoReset ?? undefined}
              title={whyNoReset ?? undefined}
              onClick={() => whyNoReset === null && choose(HARD_RESET)}
            >
              Hard reset
            </button>
          )}
          <span className="tip">
            <button
              type="button"
              className={action?.destroys === true ? "btn danger" : "btn pri"}
              aria-disabled={why !== null}
              aria-description={why ?? undefined}
              title={why ?? undefined}
              onClick={press}
            >
              {words} <Keys keys="mod+enter" />
            </button>
          </span>
        </div>
      </div>
      {asks && (
        <Confirm
          title={`${words}?`}
          yes={words}
          no="Let it wait"
          onYes={() => void send()}
          onNo={() => setAsks(false)}
        >
          <p>
            <span className="mono">{problems.map(({ step }) => step).join(", ")}</span> fails, and what
            depends on it is canceled.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function keptText(action: Wish["action"], runs: number): string {
  if (action === "set_aside") return "Kept with the failure.";
  if (action === "fork") return `Recorded in the log of the new run${runs === 1 ? "" : "s"}.`;
  return `Recorded in ${runs === 1 ? "the run's log" : `the logs of all ${runs} runs`}. This cannot be undone.`;
}

/** Why the problem's step cannot be hard reset, according to the server and its newest run; null if it can. */
function useWhyNoReset(problem: Problem | null): string | null {
  const newest = problem?.items[0];
  const { data } = useLive(
    `reset of ${newest?.job_id}`,
    async () =>
      newest === undefined ? null : readControls(newest.run_id, nameOf(newest.step, newest.scope)),
    (runId) => runId === newest?.run_id,
  );
  const control = data?.items.find(({ action }) => action === "hard_reset_step");
  if (control === undefined) return "Checking what will happen";
  return control.allowed && !control.needs_force ? null : sentence(control.reason ?? "not now");
}

function whyNot(now: {
  readonly isChosen: boolean;
  readonly jobs: number;
  readonly isAsked: boolean;
  readonly isReady: boolean | undefined;
  readonly sending: boolean;
}): string | null {
  if (now.sending) return "It is being sent";
  if (now.jobs === 0) return "No run is selected";
  if (!now.isChosen) return "Choose an answer first";
  if (!now.isAsked) return "The server has not said yet what will happen";
  return now.isReady === true ? null : "It would be refused: see above";
}

/** The server's dry run of this request, repeated when the request changes. */
function usePreview(
  wish: Wish,
  key: string,
  isAsked: boolean,
): { readonly outcome: Outcome | null; readonly problem: Refusal | null } {
  const asked = JSON.stringify(wish);
  const [found, setFound] = useState<{
    asked: string;
    outcome: Outcome | null;
    problem: Refusal | null;
  } | null>(null);
  useEffect(() => {
    if (!isAsked) return;
    let current = true;
    const timer = setTimeout(() => {
      decide(JSON.parse(asked) as Wish, key, true).then(
        (outcome) => current && setFound({ asked, outcome, problem: null }),
        (problem: Refusal) => current && setFound({ asked, outcome: null, problem }),
      );
    }, PREVIEW_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [asked, isAsked, key]);
  // Another reason does not change the effect, so the known result stays until the answer arrives.
  const isSame = found !== null && sameBut(found.asked, asked);
  return isSame ? found : { outcome: null, problem: null };
}

function sameBut(one: string, other: string): boolean {
  const { reason: _, text: __, ...first } = JSON.parse(one) as Wish;
  const { reason: ___, text: ____, ...second } = JSON.parse(other) as Wish;
  return JSON.stringify(first) === JSON.stringify(second);
}

function Acts({
  actions,
  chosen,
  several,
  onChoose,
}: {
  readonly actions: readonly Action[];
  readonly chosen: Action | null;
  readonly several: boolean;
  readonly onChoose: (action: Action) => void;
}): ReactNode {
  return (
    <fieldset className="acts" aria-label="What to do">
      {actions.map((each) => {
        const isOff = several && each.alone === true;
        return (
          <button
            key={each.name}
            type="button"
            aria-pressed={each.name === chosen?.name}
            aria-disabled={isOff}
            onClick={() => !isOff && onChoose(each)}
          >
            <span className="row">
              {several ? (each.wordsOfMany ?? each.words) : each.words}
              {each.key !== null && <Keys keys={each.key} />}
            </span>
            <small>
              {isOff ? "one problem at a time" : several ? (each.many ?? each.means) : each.means}
            </small>
          </button>
        );
      })}
    </fieldset>
  );
}

function Choices({
  choices,
  chosen,
  onChoose,
}: {
  readonly choices: readonly string[];
  readonly chosen: string | null;
  readonly onChoose: (choice: string) => void;
}): ReactNode {
  return (
    <fieldset className="acts" aria-label="Answer">
      {choices.map((choice, index) => (
        <button key={choice} type="button" aria-pressed={choice === chosen} onClick={() => onChoose(choice)}>
          <span className="row">
            {withMarks(choice)}
            {index < 9 && <Keys keys={String(index + 1)} />}
          </span>
        </button>
      ))}
    </fieldset>
  );
}

function Field({
  label,
  value,
  onChange,
  hint,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
}): ReactNode {
  const field = useId();
  return (
    <label className="field" htmlFor={field}>
      <span className="small dim">{label}</span>
      <input
        id={field}
        className="input grow"
        value={value}
        placeholder={hint}
        maxLength={4_000}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
