import type { DetectedReplay } from "@/server/planning/compare/compareReplay";
import { cascadiaBenchmarks } from "../cascadia/cascadia";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { replayed } from "../solver/compareReplay";
import { keptOrRun } from "./keptOrRun";

/** The source's five minutes between two looks at the traffic. */
const WINDOW_SECONDS = 300;

/** The replay in windows of one length, as `npm run bench -- "drift detected"` writes it. */
interface Watched {
  readonly windowSeconds: number;
  readonly systems: readonly DetectedReplay[];
}

const detected = once(() =>
  keptOrRun<Watched>({
    name: "cascadia-detected",
    isWhole: (rows) => rows.some(({ windowSeconds, systems }) => windowSeconds === WINDOW_SECONDS && systems.length === 2),
    run: async () => cascadiaBenchmarks.find(({ name }) => name.includes(`drift detected in windows of ${WINDOW_SECONDS} s`))?.run(),
  }),
);

async function watched(): Promise<{ readonly weir: DetectedReplay; readonly byLoad: DetectedReplay; readonly source: string }> {
  const { rows, source } = await detected();
  const [weir, byLoad] = rows.find(({ windowSeconds }) => windowSeconds === WINDOW_SECONDS)?.systems ?? [];
  if (weir === undefined || byLoad === undefined) throw new Error("nothing was replayed");
  return { weir, byLoad, source };
}

const words = `every change detected in windows of ${WINDOW_SECONDS} s`;

async function overCascadeServe(): Promise<Measurement> {
  const { weir, byLoad, source } = await watched();
  const figure = weir.highestFactor / byLoad.highestFactor;
  return { figure, unit: "x", detail: `throughput at an SLO scale of 5 over CascadeServe, ${words} for both; ${source}` };
}

/** The stand-alone model makes no plan again, so that it has nothing to detect. */
async function overStandAlone(): Promise<Measurement> {
  const { weir, source } = await watched();
  const alone = (await replayed()).find(({ name }) => name === "stand-alone");
  if (alone === undefined) throw new Error("no stand-alone model was replayed");
  const figure = weir.highestFactor / alone.highestFactor;
  return { figure, unit: "x", detail: `throughput at an SLO scale of 5 over the first segment's stand-alone model, ${words}; ${source}` };
}

async function scaleOf(system: "weir" | "byLoad"): Promise<Measurement> {
  const all = await watched();
  const { name, sloScale } = all[system];
  return { figure: sloScale ?? Number.NaN, unit: "SLO scale", detail: `${name}, ${words}; ${all.source}` };
}

export const detectedNames = {
  overCascadeServe: "drift detected, throughput of Weir over CascadeServe's",
  overStandAlone: "drift detected, throughput of Weir over stand-alone's",
  weir: "drift detected, SLO scale of Weir",
  cascadeServe: "drift detected, SLO scale of CascadeServe",
} as const;

/** The fluctuating load with every change detected; none without the data. */
export const detectedRatioBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      { name: detectedNames.overCascadeServe, budget: null, run: overCascadeServe },
      { name: detectedNames.overStandAlone, budget: null, run: overStandAlone },
      { name: detectedNames.weir, budget: null, run: () => scaleOf("weir") },
      { name: detectedNames.cascadeServe, budget: null, run: () => scaleOf("byLoad") },
    ]
  : [];
