import { type DetectedReplay, replayDetected } from "@/server/planning/compare/compareReplay";
import { seedEstimate } from "@/solver/lab/overSeeds";
import { mean } from "@/solver/numeric/quantile";
import { type Benchmark, type Measurement, overSeeds } from "../lib/benchmark";
import { distinct, ratioOf } from "../lib/bySeed";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { keptRows, writeRows, writeTables } from "../lib/results";
import { estimate, ratio, table } from "../lib/tables";
import { replayScene } from "../solver/compareReplay";
import { cascadiaCases } from "./cases";

/** The source's five minutes, and one minute: a judgement needs two windows, and a segment lasts 8 to 16 minutes. */
export const WINDOWS_SECONDS = [300, 60] as const;

/** The source's share of requests that all models answer. */
const MIRROR_SHARE = 0.05;

const NAME = "cascadia-detected";

/** The replay in windows of one length under one seed: Weir, then CascadeServe. */
export interface Watched {
  readonly seed: number;
  readonly windowSeconds: number;
  readonly systems: readonly DetectedReplay[];
}

/** Seed by seed, the source's windows first; `WEIR_BENCH_KEPT=1` takes what an earlier run kept. */
const replayed = once(async (): Promise<readonly Watched[]> => {
  const before = keptRows<Watched>(NAME) ?? [];
  const all: Watched[] = [];
  for (const windowSeconds of WINDOWS_SECONDS)
    for (const seed of cascadiaCases.seeds) {
      const kept = before.find((row) => row.seed === seed && row.windowSeconds === windowSeconds);
      if (kept === undefined) process.stderr.write(`windows of ${windowSeconds} s, seed ${seed}\n`);
      all.push(
        kept ?? { seed, windowSeconds, systems: replayDetected(await replayScene(seed), { windowSeconds, mirrorShare: MIRROR_SHARE }) },
      );
      // Rows that are still to come are kept too, so that a second stop loses none.
      writeRows(NAME, [...all, ...before.filter((row) => !all.some((own) => isSame(own, row)))]);
    }
  writeTables(NAME, detectedTables(all));
  return all;
});

const isSame = (one: Watched, other: Watched): boolean => one.seed === other.seed && one.windowSeconds === other.windowSeconds;

/** Replays of one system in windows of one length, seed by seed. */
const ofSystem = (all: readonly Watched[], windowSeconds: number, at: 0 | 1): readonly DetectedReplay[] =>
  all.filter((one) => one.windowSeconds === windowSeconds).flatMap(({ systems }) => systems[at] ?? []);

/** Highest rates of Weir over CascadeServe's in windows of one length; null where one has none. */
export const detectedRatio = (all: readonly Watched[], windowSeconds: number) =>
  ratioOf([
    {
      own: ofSystem(all, windowSeconds, 0).map(({ highestFactor }) => highestFactor),
      reference: ofSystem(all, windowSeconds, 1).map(({ highestFactor }) => highestFactor),
    },
  ]);

/** SLO scale at the given rates over seeds; null where a seed has no plan. */
export const detectedScale = (all: readonly Watched[], windowSeconds: number, at: 0 | 1) =>
  seedEstimate(ofSystem(all, windowSeconds, at).map(({ sloScale }) => sloScale ?? Number.NaN));

/** Both systems in each window, means over seeds; then ratios. */
export function detectedTables(all: readonly Watched[]): readonly string[] {
  const windows = distinct(all.map(({ windowSeconds }) => windowSeconds));
  const systems = table(
    [
      ...["windows", "system", "seeds", "SLO scale at these rates", "highest rates at an SLO scale of 5, times these"],
      ...["quality by segment", "planned again, times by seed", "what drifted"],
    ],
    windows.flatMap((windowSeconds) =>
      ([0, 1] as const).map((at) => {
        const own = ofSystem(all, windowSeconds, at);
        const again = own.flatMap(({ replanned }) => replanned.flatMap(({ what }) => what));
        return [
          ...[`${windowSeconds} s`, own[0]?.name ?? "-", String(own.length), estimate(detectedScale(all, windowSeconds, at))],
          estimate(seedEstimate(own.map(({ highestFactor }) => highestFactor))),
          (own[0]?.quality ?? []).map((_, segment) => mean(own.map(({ quality }) => quality[segment] ?? Number.NaN)).toFixed(1)).join(", "),
          own.map(({ replanned }) => replanned.length).join(", "),
          again.length === 0
            ? "-"
            : distinct(again)
                .map((what) => `${what} ${again.filter((one) => one === what).length}`)
                .join(", "),
        ];
      }),
    ),
  );
  const ratios = table(
    ["windows", "Weir's highest rates over CascadeServe's"],
    windows.map((windowSeconds) => [`${windowSeconds} s`, ratio(detectedRatio(all, windowSeconds))]),
  );
  return [systems, ratios];
}

async function detected(windowSeconds: number): Promise<Measurement> {
  const all = await replayed();
  const found = detectedRatio(all, windowSeconds);
  const scale = (at: 0 | 1): string => estimate(detectedScale(all, windowSeconds, at));
  return {
    ...overSeeds(found),
    unit: "x",
    detail: `throughput at an SLO scale of 5 over CascadeServe, ${ratio(found)}, ${cascadiaCases.seeds.length} seeds, every change detected in windows of ${windowSeconds} s; SLO scale ${scale(0)} against ${scale(1)}; ${100 * MIRROR_SHARE} % of requests mirrored, whose load is simulated`,
  };
}

/** The fluctuating load of the source with every change detected by the studio's drift test; none where the data is missing. */
export const detectedBenchmarks: readonly Benchmark[] = dataPresent()
  ? WINDOWS_SECONDS.map((windowSeconds) => ({
      name: `fluctuating load, drift detected in windows of ${windowSeconds} s`,
      budget: null,
      run: () => detected(windowSeconds),
    }))
  : [];
