import { counted } from "../../core/text/amount-text.js";
import {
  type AllocationSpec,
  KEY_PREFIX,
  type Refusal,
  type RefusalCode,
  type Shape,
  type Target,
} from "./provider.js";

const KEY = /^daruma-[A-Za-z0-9_.-]{1,120}$/;
/** A name of a cluster, partition, queue, account or node that both batch systems accept. */
const NAME = /^[A-Za-z0-9_@][A-Za-z0-9_@.:-]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it looks for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/;

export function refuse(refused: RefusalCode, message: string, retryable = false): Refusal {
  return { refused, message, retryable };
}

/** The refusal for a lost answer. The job may have been submitted all the same; it is then found by its key. */
export function answerLost(message: string): Refusal {
  return { ...refuse("BUSY", message, true), answerLost: true };
}

/** What is wrong with a spec in any batch system. Null if nothing is. */
export function checkSpec(spec: AllocationSpec, targets: readonly Target[]): Refusal | null {
  return checkValues(spec) ?? checkTarget(spec, targets);
}

function checkValues(spec: AllocationSpec): Refusal | null {
  const { profile, shape } = spec;
  if (!KEY.test(spec.key))
    return refuse(
      "BAD_OPTION",
      `the key ${JSON.stringify(spec.key)} must begin with ${KEY_PREFIX} and have only letters, digits, _ . -`,
    );
  const names: readonly (readonly [string, string | null | undefined])[] = [
    ["cluster", spec.cluster],
    ["target", spec.target],
    ["account", profile.account],
    ["qos", profile.qos],
    ["gres", profile.gres],
    ["parallel environment", profile.parallelEnvironment],
    ["memory resource", profile.memoryResource],
    ...spec.excludeNodes.map((node) => ["node", node] as const),
  ];
  for (const [what, name] of names)
    if (name !== null && name !== undefined && !NAME.test(name))
      return refuse("BAD_OPTION", `${JSON.stringify(name)} is not a valid name of a ${what}`);
  for (const tag of spec.tags)
    if (tag === "" || tag.includes(",")) return refuse("BAD_OPTION", `invalid tag ${JSON.stringify(tag)}`);
  for (const path of [spec.tokenFile, spec.logFile])
    if (!path.startsWith("/")) return refuse("BAD_OPTION", `${JSON.stringify(path)} is not an absolute path`);
  for (const line of profile.setup)
    if (CONTROL_CHARACTERS.test(line.replaceAll("\t", "")))
      return refuse("BAD_OPTION", `a setup line must be one line: ${JSON.stringify(line)}`);
  if (profile.program.length === 0 || profile.program[0] === "")
    return refuse("BAD_OPTION", "the program that starts the pilot is missing");
  if (
    [spec.server, spec.tokenFile, spec.logFile, ...spec.tags, ...profile.program].some((text) =>
      text.includes("\0"),
    )
  )
    return refuse("BAD_OPTION", "a value has a NUL character in it");
  if (spec.drainMs >= shape.runtimeMs)
    return refuse(
      "BAD_OPTION",
      `the pilot drains ${spec.drainMs / 1000} s before its end, which is not less than its runtime of ${shape.runtimeMs / 1000} s`,
    );
  return null;
}

function checkTarget(spec: AllocationSpec, targets: readonly Target[]): Refusal | null {
  if (targets.length === 0) return null;
  const known = targets.map(({ name }) => name).join(", ");
  const target = findTarget(spec, targets);
  if (target === undefined)
    return spec.target === null
      ? refuse("NO_TARGET", `there is no default among ${known}; name one`)
      : refuse("NO_TARGET", `there is no ${spec.target}; there are ${known}`);
  if (!target.up) return refuse("NO_TARGET", `${target.name} takes no jobs now`, true);
  const limits: readonly (readonly [keyof Shape, number | undefined])[] = [
    ["nodes", target.max.nodes],
    ["runtimeMs", target.max.runtimeMs],
    ["cpus", target.perNode.cpus],
    ["memoryBytes", target.perNode.memoryBytes],
    ["gpus", target.perNode.gpus],
  ];
  for (const [what, limit] of limits)
    if (limit !== undefined && spec.shape[what] > limit)
      return refuse(
        "TOO_BIG",
        `${WORDS[what](spec.shape[what])} asked for, but ${target.name} has at most ${WORDS[what](limit)}${what in target.perNode ? " on one node" : ""}`,
      );
  return null;
}

export function findTarget(spec: AllocationSpec, targets: readonly Target[]): Target | undefined {
  return targets.find(({ name, isDefault }) => (spec.target === null ? isDefault : name === spec.target));
}

const WORDS: { readonly [K in keyof Shape]: (amount: number) => string } = {
  nodes: (amount) => counted(amount, "node"),
  runtimeMs: (amount) => `${amount / 60_000} min`,
  cpus: (amount) => counted(amount, "CPU"),
  memoryBytes: (amount) => `${Math.ceil(amount / 1024 ** 2)} MB of memory`,
  gpus: (amount) => counted(amount, "GPU"),
};

/** An option such as `--constraint=avx512`, `-P genomics` or `--exclusive`. */
interface SiteOption {
  readonly name: string;
  readonly words: readonly string[];
}

/**
 * Splits the site's options into arguments, which no shell sees. Refuses an option that Daruma sets itself, also if
 * abbreviated: getopt accepts `--exp` for `--export`.
 */
export function readSiteOptions(
  options: readonly string[],
  reserved: ReadonlySet<string>,
  style: "getopt" | "single-dash",
): readonly string[] | Refusal {
  const words: string[] = [];
  for (const text of options) {
    const option = readOption(text);
    if (option === null)
      return refuse("BAD_OPTION", `${JSON.stringify(text)} is not an option; write --name=value or -x value`);
    if (isReserved(option.name, reserved, style))
      return refuse("BAD_OPTION", `${option.name} is set by Daruma and cannot be an extra option`);
    words.push(...option.words);
  }
  return words;
}

function readOption(text: string): SiteOption | null {
  if (text.includes("\0")) return null;
  const match = /^(--?[A-Za-z][A-Za-z0-9_-]*)(?:(=[\s\S]*)|[ \t]+([^\s-][\s\S]*))?$/.exec(text);
  if (match === null) return null;
  const [, name = "", joined, separate] = match;
  if (joined !== undefined) return { name, words: [text] };
  return { name, words: separate === undefined ? [name] : [name, separate] };
}

function isReserved(name: string, reserved: ReadonlySet<string>, style: "getopt" | "single-dash"): boolean {
  if (style === "single-dash") return reserved.has(name);
  // `-Jname` means `-J` with the value `name`.
  if (!name.startsWith("--")) return reserved.has(name.slice(0, 2));
  return [...reserved].some((long) => long.startsWith("--") && long.startsWith(name));
}
