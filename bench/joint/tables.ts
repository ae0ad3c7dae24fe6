import { type SeedEstimate, seedEstimate } from "@/solver/lab/overSeeds";
import { mean } from "@/solver/numeric/quantile";
import { RECORDED_RUN } from "@/solver/workflow/measuredPrograms";
import type { Measurement } from "../lib/benchmark";
import { differenceOf, ratioOf } from "../lib/bySeed";
import { estimate, ratio, signed, table } from "../lib/tables";
import cases from "./cases.json" with { type: "json" };
import { type MixRace, PARTS, type Part, type PartRow } from "./race";
import { ALONE, BASELINES, JOINT, PAIRS } from "./systems";

/** Points by which a system may be worse than the joint policy, beyond noise, and still be compared with it. */
const EQUAL_QUALITY = 1;

type Latency = "meanSeconds" | "p95Seconds" | "secondsPerToken";

/** The joint policy over the best of some systems at equal quality, on one part of one mix at one load. */
interface Comparison extends Pick<PartRow, "mix" | "load" | "part"> {
  /** Whether the joint policy is not surely below the part's floor. */
  readonly keepsFloor: boolean;
  /** The system with the least figure of those of equal quality on every part; null where there is none. */
  readonly best: string | null;
  readonly ratio: SeedEstimate | null;
  /** Quality of that system on the part less the joint policy's, in points. */
  readonly quality: SeedEstimate | null;
}

const rowOf = (rows: readonly PartRow[], at: Pick<PartRow, "mix" | "load" | "part" | "system">): PartRow | undefined =>
  rows.find((row) => row.mix === at.mix && row.load === at.load && row.part === at.part && row.system === at.system);

/** Quality of a row less another's, seed by seed. */
const qualityOver = (own: PartRow, reference: PartRow): SeedEstimate | null =>
  differenceOf([{ own: own.quality, reference: reference.quality }]);

const isFloored = (part: Part): boolean => part === "single requests" || part === "recorded runs";

/** Whether a part of the joint policy's programs is not surely below the floor that it has; true for a part without one. */
const keepsFloor = ({ part, quality, floor }: PartRow): boolean =>
  !isFloored(part) || (seedEstimate(quality)?.high ?? mean(quality)) >= floor;

/**
 * Whether a system may be compared with the joint policy: each part is not surely more than a point worse than the joint policy's. Single
 * requests, and the calls of recorded runs, which are served as such, may be worse than that where they are not surely below the floor.
 */
function isAsGood(rows: readonly PartRow[], at: Pick<PartRow, "mix" | "load">, system: string): boolean {
  const parts = PARTS.filter((part) => part !== "all" && rowOf(rows, { ...at, part, system: JOINT }) !== undefined);
  return parts.every((part) => {
    const [own, joint] = [system, JOINT].map((each) => rowOf(rows, { ...at, part, system: each }));
    if (own === undefined || joint === undefined) return false;
    const over = qualityOver(own, joint);
    const isNear = over !== null && (over.high ?? over.value) >= -EQUAL_QUALITY;
    return isNear || (isFloored(part) && keepsFloor(own));
  });
}

/** The joint policy over the best of the given systems, case by case. */
function comparisons(rows: readonly PartRow[], against: readonly string[], figure: Latency): readonly Comparison[] {
  const own = rows.filter(({ system }) => system === JOINT);
  return own.map((joint) => {
    const others = against.filter((system) => isAsGood(rows, joint, system)).flatMap((system) => rowOf(rows, { ...joint, system }) ?? []);
    const [best] = others.toSorted((a, b) => mean(a[figure]) - mean(b[figure]));
    const { mix, load, part } = joint;
    return {
      mix,
      load,
      part,
      keepsFloor: keepsFloor(joint),
      best: best?.system ?? null,
      ratio: best === undefined ? null : ratioOf([{ own: joint[figure], reference: best[figure] }]),
      quality: best === undefined ? null : qualityOver(best, joint),
    };
  });
}

const named = [...cases.workflows, cases.ensemble.workflow];

export function mixTable(races: readonly MixRace[]): string {
  const withRuns = races.some(({ mix }) => mix.shares.some(({ workflow }) => workflow === RECORDED_RUN));
  const columns = withRuns ? [...named, RECORDED_RUN] : named;
  return table(
    ["mix", ...columns, "single requests", "floor of single requests", "cheapest cascade that keeps it"],
    races.map(({ mix, floor, cascade }) => {
      const share = (name: string): string => `${(100 * (mix.shares.find(({ workflow }) => workflow === name)?.share ?? 0)).toFixed(0)} %`;
      return [mix.name, ...columns.map(share), share(cases.single), floor.toFixed(1), cascade];
    }),
  );
}

const figureNames = { meanSeconds: "Mean latency", p95Seconds: "p95 latency", secondsPerToken: "Seconds a token" } as const;

/** The joint policy's figure over that of each system alone and of the best pair. A system that is not as good is marked. */
export function matrixTable(rows: readonly PartRow[], figure: Latency): string {
  const pairs = comparisons(rows, PAIRS, figure);
  const lines = rows
    .filter(({ system }) => system === JOINT)
    .map((joint, at) => {
      const alone = [...BASELINES, ...ALONE].map((system) => {
        const row = rowOf(rows, { ...joint, system });
        if (row === undefined) return "-";
        return `${ratio(ratioOf([{ own: joint[figure], reference: row[figure] }]))}${isAsGood(rows, joint, system) ? "" : " †"}`;
      });
      const pair = pairs[at];
      const best = pair?.best == null ? "none as good" : `${ratio(pair.ratio)}, ${pair.best} (${signed(pair.quality)} points)`;
      return [joint.mix, `${joint.load}`, joint.part, ...alone, best];
    });
  return `${figureNames[figure]} of the joint policy over that of:\n\n${table(["mix", "load", "part", ...BASELINES, ...ALONE, "the best pair"], lines)}`;
}

/** Quality of the parts with a floor, and the share of all parts' programs within their limit, of the joint policy and its best rivals by the mean. */
export function promisesTable(rows: readonly PartRow[]): string {
  const own = rows.filter(({ system }) => system === JOINT);
  const [alone, pairs] = [ALONE, PAIRS].map((against) => comparisons(rows, against, "meanSeconds"));
  return table(
    ["mix", "load", "part", "quality of joint", "floor", "not surely below it", "within SLO, %: joint", "the best alone", "the best pair"],
    own.map((joint, at) => {
      const within = [alone, pairs].map((column) => {
        const best = column?.[at]?.best;
        const row = best == null ? undefined : rowOf(rows, { ...joint, system: best });
        return row === undefined ? "none as good" : `${estimate(seedEstimate(row.withinSlo))}, ${row.system}`;
      });
      const floored = isFloored(joint.part) ? [joint.floor.toFixed(1), keepsFloor(joint) ? "yes" : "no"] : ["-", "-"];
      const quality = estimate(seedEstimate(joint.quality));
      return [joint.mix, `${joint.load}`, joint.part, quality, ...floored, estimate(seedEstimate(joint.withinSlo)), ...within];
    }),
  );
}

/** Share of programs, in percent, that must end within their limit where the highest load is asked for. */
const MOSTLY_WITHIN = 90;

/**
 * The highest load at which a system keeps `MOSTLY_WITHIN` percent of a part's programs within their limit, between the loads that were run by
 * a straight line, as text.
 */
function highestLoad(rows: readonly PartRow[], at: Pick<PartRow, "mix" | "part" | "system">): string {
  const points = rows
    .filter(({ mix, part, system }) => mix === at.mix && part === at.part && system === at.system)
    .map(({ load, withinSlo }) => ({ load, within: mean(withinSlo) }))
    .toSorted((a, b) => a.load - b.load);
  const above = points.findIndex(({ within }) => within < MOSTLY_WITHIN);
  const [last, next] = [points[above < 0 ? points.length - 1 : above - 1], points[above]];
  if (last === undefined) return `below ${points[0]?.load}`;
  if (next === undefined) return `${last.load} or more`;
  return (last.load + ((next.load - last.load) * (last.within - MOSTLY_WITHIN)) / (last.within - next.within)).toFixed(2);
}

/** The highest load at which nine tenths of a part's programs end within their limit, by system. One that is not as good at every load is marked. */
export function highestLoadTable(rows: readonly PartRow[]): string {
  const systems = [JOINT, ...BASELINES, ...ALONE, ...PAIRS];
  const loads = [...new Set(rows.map(({ load }) => load))];
  const isAsGoodAtAll = (mix: string, system: string): boolean => loads.every((load) => isAsGood(rows, { mix, load }, system));
  const parts = [...new Set(rows.map(({ mix, part }) => JSON.stringify([mix, part])))].map((key) => JSON.parse(key) as [string, Part]);
  return table(
    ["mix", "part", ...systems],
    parts.map(([mix, part]) => [
      ...[mix, part],
      ...systems.map((system) => `${highestLoad(rows, { mix, part, system })}${isAsGoodAtAll(mix, system) ? "" : " †"}`),
    ]),
  );
}

/** The joint policy over itself on other seeds: what a ratio is between runs that differ by nothing else. */
export function noiseTable(rows: readonly PartRow[], others: readonly PartRow[]): string {
  const own = rows.filter(({ system }) => system === JOINT);
  return table(
    ["mix", "load", "part", "mean", "p95", "quality, points"],
    own.flatMap((joint) => {
      const other = rowOf(others, joint);
      if (other === undefined) return [];
      const over = (figure: Latency): string => (mean(other[figure]) / mean(joint[figure])).toFixed(2);
      return [
        [
          ...[joint.mix, `${joint.load}`, joint.part, over("meanSeconds"), over("p95Seconds")],
          (mean(other.quality) - mean(joint.quality)).toFixed(1),
        ],
      ];
    }),
  );
}

export const figuresTable = (rows: readonly PartRow[]): string =>
  table(
    ["mix", "load", "part", "system", "mean, s", "p95, s", "s a token", "within SLO, %", "quality"],
    rows
      .toSorted((a, b) => a.mix.localeCompare(b.mix) || a.load - b.load || PARTS.indexOf(a.part) - PARTS.indexOf(b.part))
      .map(({ mix, load, part, system, ...row }) => [
        ...[mix, `${load}`, part, system],
        ...[row.meanSeconds, row.p95Seconds, row.secondsPerToken, row.withinSlo, row.quality].map((values) =>
          estimate(seedEstimate(values)),
        ),
      ]),
  );

/** A policy, and what it is without each of its terms, by system. */
interface Ablation {
  readonly reference: string;
  readonly variants: Readonly<Record<string, string>>;
  readonly loads: readonly number[];
}

/** What each term adds: the policy without it over the policy, all mixes together. */
export function termsTable(rows: readonly PartRow[], { reference, variants, loads }: Ablation): string {
  const mixes = [...new Set(rows.map(({ mix }) => mix))];
  const pairs = (system: string, load: number, part: Part, figure: Latency | "quality") =>
    mixes.flatMap((mix) => {
      const [own, whole] = [system, reference].map((each) => rowOf(rows, { mix, load, part, system: each }));
      return own === undefined || whole === undefined ? [] : [{ own: own[figure], reference: whole[figure] }];
    });
  return table(
    [
      ...[reference, "load", "all: mean, over its", "p95", "single requests: mean", "p95", "quality, points"],
      ...["agents: mean", "p95", "quality, points", "ensemble: mean"],
    ],
    Object.entries(variants).flatMap(([variant, system]) =>
      loads.map((load) => {
        const over = (part: Part) =>
          (["meanSeconds", "p95Seconds"] as const).map((figure) => ratio(ratioOf(pairs(system, load, part, figure))));
        return [
          ...[variant, `${load}`],
          ...over("all"),
          ...(["single requests", "agents"] as const).flatMap((part) => [
            ...over(part),
            signed(differenceOf(pairs(system, load, part, "quality"))),
          ]),
          ratio(ratioOf(pairs(system, load, "ensemble", "meanSeconds"))),
        ];
      }),
    ),
  );
}

/**
 * The share of cases in which the joint policy's figure is at most nine tenths of the best other's, beyond the noise of the seeds: a case is
 * a part of a mix at a load. Where no other is as good, the case counts as none of these.
 */
export function tenthBelow(rows: readonly PartRow[], against: readonly string[], figure: Latency): Measurement {
  const all = comparisons(rows, against, figure).filter(({ part }) => part !== "all");
  const better = all.filter(({ ratio: over, keepsFloor: keeps }) => keeps && over !== null && over.value <= 0.9 && (over.high ?? 1) < 1);
  const worse = all.filter(({ ratio: over }) => over !== null && (over.low ?? 0) > 1);
  const named = (one: Comparison): string => `${one.mix}, ${one.load}, ${one.part}: ${one.ratio?.value.toFixed(2)} of ${one.best}`;
  const mixes = new Set(rows.map(({ mix }) => mix)).size;
  const loads = [...new Set(rows.map(({ load }) => load))].join(", ");
  const parts = PARTS.filter((part) => all.some((one) => one.part === part));
  return {
    figure: (100 * better.length) / all.length,
    unit: "% of the cases",
    detail: `lower by a tenth at least, beyond noise, than the best of ${against.join(", ")} that are not surely more than a point worse on any part, or keep the floor of single requests: ${better.length} of ${all.length}, ${parts.length} parts of ${mixes} mixes at loads of ${loads}; in ${all.filter(({ best }) => best === null).length} none is as good; in ${all.filter(({ keepsFloor: keeps }) => !keeps).length} joint itself is below the floor; higher beyond noise in ${worse.length}${worse.length === 0 ? "" : ` (${worse.map(named).join("; ")})`}; ${cases.seeds.length} seeds, engines that deviate from the profile by the seed`,
  };
}
