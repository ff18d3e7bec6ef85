import { type FormEvent, type ReactNode, useId, useState } from "react";
import { api, dataOf, type Problem } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Button } from "../../parts/Button.js";
import { Empty, Refused, Skeleton } from "../../parts/Notice.js";
import { addressOf, type Place } from "../../place.js";
import { withMarks } from "../../words/unseen.js";
import { fieldsOf, givenInputs, hintOf, labelsOf, type StartField } from "./start-fields.js";

interface StartProps {
  readonly name: string;
  readonly place: Place;
  readonly mayAct: boolean;
}

interface Declared {
  readonly inputs: Parameters<typeof fieldsOf>[0];
  readonly secrets: readonly string[];
}

/** A form made from the inputs that the workflow declares. */
export function StartRun({ name, place, mayAct }: StartProps): ReactNode {
  const asked = place.query.get("version");
  const version = asked === null ? undefined : Number(asked);
  const { data, problem } = useLive(
    `start ${name} ${asked}`,
    () =>
      dataOf(
        api.GET("/api/v1/workflows/{name}", {
          params: { path: { name }, query: version === undefined ? {} : { version } },
        }),
      ),
    () => false,
  );
  if (problem !== null) return <Refused problem={problem} />;
  if (data === null) return <Skeleton />;
  if (!mayAct) return <Empty title="Your token may only read">An operator can start runs.</Empty>;
  if (!data.published)
    return (
      <Empty title={`${name} was never published`}>
        <a className="link" href={addressOf(["workflows", name, "edit"])}>
          Make it a draft and publish it
        </a>
        , then its runs can be started here.
      </Empty>
    );
  const { inputs, secrets } = data.definition as unknown as Declared;
  return <StartForm name={name} version={data.version} fields={fieldsOf(inputs)} secrets={secrets} />;
}

interface FormProps {
  readonly name: string;
  readonly version: number;
  readonly fields: readonly StartField[];
  readonly secrets: readonly string[];
}

function StartForm({ name, version, fields, secrets }: FormProps): ReactNode {
  const [typed, setTyped] = useState<{ readonly [name: string]: string }>({});
  const [labels, setLabels] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  /** The key of the request: sent twice, it starts one run. It changes when something else is typed. */
  const [key, setKey] = useState(() => crypto.randomUUID());
  const parsed = labelsOf(labels);
  const wrongLabel = "wrong" in parsed ? String(parsed.wrong) : null;
  const change = (next: () => void): void => {
    next();
    setKey(crypto.randomUUID());
  };
  const start = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (busy || wrongLabel !== null) return;
    setBusy(true);
    const body = {
      workflow: name,
      version,
      inputs: givenInputs(typed),
      labels: parsed as Record<string, string>,
      key,
    };
    try {
      const { run_id } = await dataOf(api.POST("/api/v1/runs", { body }));
      location.hash = addressOf(["runs", run_id]);
    } catch (error) {
      setProblem(error as Problem);
      setBusy(false);
    }
  };
  const errorOf = (input: string): string | null =>
    problem?.errors.find(({ path }) => path === `inputs.${input}`)?.message ?? null;
  const isTold =
    problem !== null && problem.errors.length > 0 && fields.some(({ name: of }) => errorOf(of) !== null);
  return (
    <form className="startform" onSubmit={(event) => void start(event)}>
      <h2>
        Start a run of {name}, version {version}
      </h2>
      {problem !== null && !isTold && <Refused problem={problem} />}
      {fields.length === 0 && <p className="dim">The workflow declares no inputs.</p>}
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={typed[field.name] ?? ""}
          error={errorOf(field.name)}
          onChange={(text) => change(() => setTyped((old) => ({ ...old, [field.name]: text })))}
        />
      ))}
      <Field
        field={LABELS}
        value={labels}
        error={wrongLabel}
        onChange={(text) => change(() => setLabels(text))}
      />
      {secrets.length > 0 && (
        <p className="small dim">
          Secrets are not typed here. The worker takes them from its environment:{" "}
          <span className="mono-s">{secrets.join(", ")}</span>
        </p>
      )}
      <div className="row">
        <Button
          why={busy ? "The run is being started" : wrongLabel === null ? null : `Labels: ${wrongLabel}`}
          look="first"
          submits
        >
          Start run
        </Button>
        <a className="btn" href={addressOf(["workflows", name])}>
          Cancel
        </a>
      </div>
    </form>
  );
}

const LABELS: StartField = {
  name: "Labels",
  type: "string",
  required: false,
  description: "Find the run by them later: key=value, separated by commas.",
  fallback: null,
  choices: null,
};

interface FieldProps {
  readonly field: StartField;
  readonly value: string;
  readonly error: string | null;
  readonly onChange: (text: string) => void;
}

/** A field for one input, typed or chosen, with its error below. */
function Field({ field, value, error, onChange }: FieldProps): ReactNode {
  const id = useId();
  const { name, type, required, choices } = field;
  const fallback = field.fallback === null ? null : withMarks(field.fallback);
  const shared = {
    id,
    value,
    "aria-invalid": error !== null,
    "aria-required": required,
    "aria-describedby": `${id}-told`,
    className: error === null ? "input" : "input wrong",
  };
  const isLong = type === "object" || type === "array";
  return (
    <div className="field">
      <label htmlFor={id} className="mono">
        {name}
        {required && <span className="dim small"> required</span>}
      </label>
      {choices !== null ? (
        <select {...shared} onChange={(event) => onChange(event.target.value)}>
          <option value="">
            {fallback === null ? (required ? "choose" : "none") : `${fallback} (default)`}
          </option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {withMarks(choice)}
            </option>
          ))}
        </select>
      ) : isLong ? (
        <textarea
          {...shared}
          rows={3}
          placeholder={fallback ?? ""}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input {...shared} placeholder={fallback ?? ""} onChange={(event) => onChange(event.target.value)} />
      )}
      <p id={`${id}-told`} className={error === null ? "small dim" : "small bad"}>
        {withMarks(error ?? hintOf(field))}
      </p>
    </div>
  );
}
