import { type DetectedReplay, replayDetected } from "@/server/planning/compare/compareReplay";
import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeResults, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { replayScene } from "../solver/compareReplay";

/** The source's five minutes, and one minute: a judgement needs two windows, and a segment lasts 8 to 16 minutes. */
const WINDOWS_SECONDS = [300, 60] as const;

/** The source's share of requests that all models answer. */
const MIRROR_SHARE = 0.05;

interface Watched {
  readonly windowSeconds: number;
  readonly systems: readonly DetectedReplay[];
}

const replayed = once(async (): Promise<readonly Watched[]> => {
  const scene = await replayScene();
  const all = WINDOWS_SECONDS.map((windowSeconds) => ({
    windowSeconds,
    systems: replayDetected(scene, { windowSeconds, mirrorShare: MIRROR_SHARE }),
  }));
  writeResults("cascadia-detected", all);
  writeTables("cascadia-detected", [detectedTable(all)]);
  return all;
});

const detectedTable = (all: readonly Watched[]): string =>
  table(
    [
      "windows",
      "system",
      "SLO scale at these rates",
      "highest rates at an SLO scale of 5",
      "quality by segment",
      "planned again at (what drifted)",
    ],
    all.flatMap(({ windowSeconds, systems }) =>
      systems.map(({ name, sloScale, highestFactor, quality, replanned }) => [
        ...[`${windowSeconds} s`, name, sloScale?.toFixed(2) ?? "no plan", `${highestFactor.toFixed(2)} times these`],
        quality.map((value) => value.toFixed(1)).join(", "),
        replanned.map(({ atSeconds, what }) => `${atSeconds} s (${what.join(", ")})`).join("; "),
      ]),
    ),
  );

async function detected(windowSeconds: number): Promise<Measurement> {
  const own = (await replayed()).find((one) => one.windowSeconds === windowSeconds)?.systems ?? [];
  const [weir, byLoad] = own;
  if (weir === undefined || byLoad === undefined) throw new Error("nothing was replayed");
  const scale = (one: DetectedReplay): string => one.sloScale?.toFixed(2) ?? "no plan";
  return {
    figure: weir.highestFactor / byLoad.highestFactor,
    unit: "x",
    detail: `throughput at an SLO scale of 5 over CascadeServe, every change detected in windows of ${windowSeconds} s; SLO scale ${scale(weir)} against ${scale(byLoad)}, quality by segment ${weir.quality.map((value) => value.toFixed(1)).join(", ")}; ${100 * MIRROR_SHARE} % of requests mirrored, whose load is simulated; planned again ${weir.replanned.length} and ${byLoad.replanned.length} times`,
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
