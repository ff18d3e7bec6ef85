// Written by hand: the text format is a page long, and no package's registry supports counters that are rebuilt from
// the log.
import { type Measurement, SERIES, type SeriesName } from "./measurement.js";

/** Upper bounds of the duration buckets in seconds, from a noop to a simulation that runs overnight. */
const BUCKETS_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 43_200] as const;

interface Histogram {
  readonly buckets: number[];
  sum: number;
  count: number;
}

/** A number that is read whenever metrics are requested. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly read: () => readonly {
    readonly labels: { readonly [label: string]: string };
    readonly value: number;
  }[];
}

/** Sums up measurements since the process began, and prints them in the text format of Prometheus. */
export class PrometheusRegistry {
  private readonly counters = new Map<SeriesName, Map<string, number>>();
  private readonly histograms = new Map<SeriesName, Map<string, Histogram>>();
  private readonly gauges: Gauge[] = [];

  add({ name, value, labels }: Measurement): void {
    const key = labelText(labels);
    if (SERIES[name].kind === "counter") {
      const series = seriesOf(this.counters, name);
      series.set(key, (series.get(key) ?? 0) + value);
      return;
    }
    const series = seriesOf(this.histograms, name);
    const histogram = series.get(key) ?? { buckets: BUCKETS_SECONDS.map(() => 0), sum: 0, count: 0 };
    BUCKETS_SECONDS.forEach((end, index) => {
      if (value <= end) histogram.buckets[index]! += 1;
    });
    histogram.sum += value;
    histogram.count += 1;
    series.set(key, histogram);
  }

  addGauge(gauge: Gauge): void {
    this.gauges.push(gauge);
  }

  text(): string {
    const lines: string[] = [];
    for (const name of Object.keys(SERIES) as SeriesName[]) lines.push(...this.seriesLines(name));
    for (const { name, help, read } of this.gauges) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`);
      for (const { labels, value } of read()) lines.push(`${name}${braced(labelText(labels))} ${value}`);
    }
    return `${lines.join("\n")}\n`;
  }

  private seriesLines(series: SeriesName): string[] {
    const name = series.replaceAll(".", "_");
    const { kind, help, labels } = SERIES[series];
    if (kind === "seconds") {
      const found = [...(this.histograms.get(series) ?? [])].flatMap(([key, histogram]) =>
        histogramLines(name, key, histogram),
      );
      return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...found];
    }
    const counted = this.counters.get(series) ?? new Map(labels.length === 0 ? [["", 0]] : []);
    const found = [...counted].map(([key, value]) => `${name}${braced(key)} ${value}`);
    return [`# HELP ${name} ${help}`, `# TYPE ${name} counter`, ...found];
  }
}

function histogramLines(name: string, key: string, { buckets, sum, count }: Histogram): string[] {
  const withEnd = (end: string): string => braced(key === "" ? `le="${end}"` : `${key},le="${end}"`);
  return [
    ...BUCKETS_SECONDS.map((end, index) => `${name}_bucket${withEnd(String(end))} ${buckets[index]}`),
    `${name}_bucket${withEnd("+Inf")} ${count}`,
    `${name}_sum${braced(key)} ${sum}`,
    `${name}_count${braced(key)} ${count}`,
  ];
}

function seriesOf<Value>(all: Map<SeriesName, Map<string, Value>>, name: SeriesName): Map<string, Value> {
  const found = all.get(name) ?? new Map<string, Value>();
  all.set(name, found);
  return found;
}

function labelText(labels: { readonly [label: string]: string }): string {
  return Object.entries(labels)
    .map(
      ([label, value]) =>
        `${label}="${value.replace(/[\\"\n]/g, (found) => (found === "\n" ? "\\n" : `\\${found}`))}"`,
    )
    .join(",");
}

function braced(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}
