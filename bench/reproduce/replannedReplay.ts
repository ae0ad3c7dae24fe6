import { cascadiaBenchmarks, detectedRatio, detectedScale, type Watched, WINDOWS_SECONDS } from "../cascadia/cascadia";
import { cascadiaCases } from "../cascadia/cases";
import { type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { ratio } from "../lib/tables";
import { replayed } from "../solver/compareReplay";
import { keptOrRun } from "./keptOrRun";

/** The source's five minutes between two looks at the traffic, and the shorter windows that are reported beside them. */
const [WINDOW_SECONDS, SHORTER_SECONDS] = WINDOWS_SECONDS;

const detected = once(() =>
  keptOrRun<Watched>({
    name: "cascadia-detected",
    isWhole: (rows) =>
      WINDOWS_SECONDS.every((windowSeconds) =>
        cascadiaCases.seeds.every((seed) =>
          rows.some((row) => row.seed === seed && row.windowSeconds === windowSeconds && row.systems.length === 2),
        ),
      ),
    run: async () => cascadiaBenchmarks.find(({ name }) => name.includes(`drift detected in windows of ${WINDOW_SECONDS} s`))?.run(),
  }),
);

const words = `every change detected in windows of ${WINDOW_SECONDS} s`;

async function overCascadeServe(): Promise<Measurement> {
  const { rows, source } = await detected();
  return {
    ...overSeeds(detectedRatio(rows, WINDOW_SECONDS)),
    unit: "x",
    detail: `throughput at an SLO scale of 5 over CascadeServe, ${words} for both; in windows of ${SHORTER_SECONDS} s ${ratio(detectedRatio(rows, SHORTER_SECONDS))}; ${source}`,
  };
}

/** The stand-alone model makes no plan again, so that it has nothing to detect. Its replay has the first seed alone. */
async function overStandAlone(): Promise<Measurement> {
  const { rows, source } = await detected();
  const [seed] = cascadiaCases.seeds;
  const weir = rows.find((row) => row.seed === seed && row.windowSeconds === WINDOW_SECONDS)?.systems[0];
  const alone = (await replayed()).find(({ name }) => name === "stand-alone");
  if (weir === undefined || alone === undefined) throw new Error("no stand-alone model was replayed");
  const figure = weir.highestFactor / alone.highestFactor;
  const detail = `throughput at an SLO scale of 5 over the first segment's stand-alone model, ${words}; ${source}`;
  return { figure, seeds: 1, unit: "x", detail };
}

async function scaleOf(at: 0 | 1): Promise<Measurement> {
  const { rows, source } = await detected();
  const name = rows[0]?.systems[at]?.name ?? "nothing";
  return { ...overSeeds(detectedScale(rows, WINDOW_SECONDS, at)), unit: "SLO scale", detail: `${name}, ${words}; ${source}` };
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
      { name: detectedNames.weir, budget: null, run: () => scaleOf(0) },
      { name: detectedNames.cascadeServe, budget: null, run: () => scaleOf(1) },
    ]
  : [];
