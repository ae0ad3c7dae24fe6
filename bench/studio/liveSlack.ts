import type { MeasuredChange } from "@/server/contracts/studio";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { type LiveChange, liveChanges } from "./liveSlackRun";

type Figure = MeasuredChange["figures"][number];

/** The compared figures of a change. */
const QUANTITIES = { p95: "end-to-end", quality: "quality", share: "stage-share" } as const;

const measured = once(async (): Promise<readonly LiveChange[]> => {
  const changes = await liveChanges((line) => process.stderr.write(`${line}\n`));
  writeRows(
    "liveSlack",
    changes.map(({ measured: { figures, requests, windowSeconds, notComparable }, ...of }) => ({
      ...of,
      requests,
      windowSeconds,
      notComparable,
      figures,
    })),
  );
  const parts = (["cascade", "slack"] as const).map((policy) => {
    const own = changes.filter((change) => change.policy === policy);
    return `${own[0]?.plan}:\n\n${tableOf(own)}`;
  });
  writeTables("live-slack", parts);
  return changes;
});

const figureOf = ({ measured: { figures } }: LiveChange, name: keyof typeof QUANTITIES): Figure | undefined =>
  figures.filter(({ quantity }) => quantity === QUANTITIES[name]).at(-1);

type Place = "inside" | "interval" | "outside";

/** Whether the measured value is inside the forecast's band, or its interval overlaps the band; null where one of them is missing. */
function placeOf(figure: Figure | undefined): Place | null {
  if (figure?.band == null || figure.measured === null) return null;
  const { band, measured: value, interval } = figure;
  if (value >= band.low && value <= band.high) return "inside";
  return interval !== null && interval.high >= band.low && interval.low <= band.high ? "interval" : "outside";
}

const placeTexts: Readonly<Record<Place, string>> = { inside: "yes", interval: "its interval in part", outside: "**no**" };

const writers = {
  p95: (value: number) => `${value.toFixed(2)} s`,
  quality: (value: number) => value.toFixed(1),
  share: (value: number) => `${(100 * value).toFixed(0)} %`,
};

function tableOf(changes: readonly LiveChange[]): string {
  const names = Object.keys(QUANTITIES) as (keyof typeof QUANTITIES)[];
  return table(
    ["slack", "requests", "figure", "forecast", "band", "measured (interval)", "inside the band"],
    changes.flatMap((change) =>
      names.flatMap((name) => {
        const figure = figureOf(change, name);
        if (figure === undefined) return [];
        const write = writers[name];
        const { promised, band, measured: value, interval } = figure;
        const span = (of: typeof interval): string => (of === null ? "-" : `${write(of.low)} to ${write(of.high)}`);
        const place = placeOf(figure);
        const slack =
          change.policy === "cascade" ? [change.from, change.to].map((own) => `${Math.round(100 * own)} %`) : [change.from, change.to];
        return [
          [
            ...[slack.join(" → "), String(change.measured.requests), figure.name],
            ...[promised === null ? "-" : write(promised), span(band), value === null ? "-" : `${write(value)} (${span(interval)})`],
            place === null ? "-" : placeTexts[place],
          ],
        ];
      }),
    ),
  );
}

async function inside(name: keyof typeof QUANTITIES): Promise<Measurement> {
  const changes = await measured();
  const places = changes.flatMap((change) => placeOf(figureOf(change, name)) ?? []);
  const [hits, near] = (["inside", "interval"] as const).map((place) => places.filter((own) => own === place).length);
  return {
    figure: (100 * (hits ?? 0)) / places.length,
    unit: "%",
    detail: `${hits} of ${places.length} measured values are inside the forecast's band, and the intervals of ${near} more overlap it; five changes of slack of a cascade and five of tau of a slack dispatch on four emulated l40s under their hidden truth, held-out prompts`,
  };
}

/** Forecasts of changes of slack on a running cluster against what is measured after them. */
export const liveSlackBenchmarks: readonly Benchmark[] = [
  { name: "live slack, forecast p95 that holds", budget: null, run: () => inside("p95") },
  { name: "live slack, forecast quality that holds", budget: null, run: () => inside("quality") },
  { name: "live slack, forecast share of the larger model that holds", budget: null, run: () => inside("share") },
];
