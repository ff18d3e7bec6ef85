import type { Target } from "../provider.js";
import { parseDuration, parseMemory } from "./parse-values.js";

export const HOSTS_COMMAND: readonly string[] = ["qhost", "-q", "-xml"];
export const QUEUES_COMMAND: readonly string[] = ["qconf", "-sq", "*"];

interface QueueOnHost {
  readonly queue: string;
  readonly slots: number;
  readonly memoryBytes: number | null;
  readonly usable: boolean;
}

/**
 * Reads the queues as targets. `qhost -q -xml` lists the slots of queues on hosts; `qconf -sq` has the limits of each
 * queue.
 */
export function readTargets(hosts: string, queues: string): Target[] {
  const instances = Array.from(hosts.matchAll(/<host name='[^']*'>([\s\S]*?)<\/host>/g), ([, host = ""]) =>
    instancesOn(host),
  ).flat();
  return Array.from(
    queues.matchAll(/^qname\s+(\S+)([\s\S]*?)(?=^qname|$(?![\s\S]))/gm),
    ([, name = "", limits = ""]) =>
      targetOf(
        name,
        limits,
        instances.filter(({ queue }) => queue === name),
      ),
  );
}

function targetOf(name: string, limits: string, instances: readonly QueueOnHost[]): Target {
  const runtimeMs = parseDuration(/^h_rt\s+(\S+)/m.exec(limits)?.[1] ?? "");
  const memory = instances.flatMap(({ memoryBytes }) => memoryBytes ?? []);
  return {
    name,
    max: { nodes: 1, ...(runtimeMs !== null && { runtimeMs }) },
    perNode: {
      ...(instances.length > 0 && { cpus: Math.max(...instances.map(({ slots }) => slots)) }),
      ...(memory.length > 0 && { memoryBytes: Math.max(...memory) }),
    },
    preemptible: !/^suspend_thresholds\s+NONE/m.test(limits),
    up: instances.some(({ usable }) => usable),
    isDefault: false,
  };
}

function instancesOn(host: string): QueueOnHost[] {
  const memoryBytes = parseMemory(value(host, "hostvalue name='mem_total'"));
  return Array.from(
    host.matchAll(/<queue name='([^']*)'>([\s\S]*?)<\/queue>/g),
    ([, queue = "", values = ""]) => ({
      queue,
      slots: Number(value(values, `queuevalue qname='${queue}' name='slots'`)) || 0,
      memoryBytes,
      // u: host unreachable, E: in error, d and D: disabled, s and S: suspended, C: suspended by a calendar, o:
      // orphaned
      usable: !/[uEdDsSCo]/.test(value(values, `queuevalue qname='${queue}' name='state_string'`)),
    }),
  );
}

function value(xml: string, opening: string): string {
  const start = xml.indexOf(`<${opening}>`);
  return start === -1 ? "" : xml.slice(start + opening.length + 2, xml.indexOf("<", start + 1));
}
