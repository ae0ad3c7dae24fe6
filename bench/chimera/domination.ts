import { mean } from "@/solver/numeric/quantile";
import { type Contest, differenceOf, distinct, timesLess } from "../lib/bySeed";
import { ratio, signed, table } from "../lib/tables";
import { NO_WORSE_POINTS } from "./cases";
import type { FrontierRow } from "./frontier";

/** What distinguishes systems: name, slack, margin and a further setting. */
export const systemOf = ({ name, tau, margin, setting }: Pick<FrontierRow, "name" | "tau" | "margin" | "setting">): string =>
  [name, tau ?? "-", margin ?? "-", setting ?? "-"].join("|");

export const caseOf = ({ family, task, load }: FrontierRow): string => `${family}, ${task} | ${load}`;

export const VLLM = "vLLM balancing|-|-|-";

/** How a system stands against a baseline in one case. */
type VerdictKind = "dominates" | "not-surely-faster" | "slower" | "worse";

/** A system's points in one case, of which each seed is measured at the one that the other seeds prefer, against a baseline. */
export interface Verdict extends Contest {
  readonly at: string;
  readonly kind: VerdictKind;
  /** The points that were preferred, most often first. */
  readonly picks: readonly string[];
}

/**
 * The verdict on a system in one case. A point that is chosen on the same seeds that it is measured on wins by chance; so each seed is
 * measured at the point that is the fastest of those that are no worse than the baseline in the mean over the other seeds, or, where none
 * is, at that of the highest quality there.
 *
 * @param own rows of the system's points in the case
 * @param baseline row of the baseline in the case
 * @throws RangeError without points
 */
export function verdictOn(own: readonly FrontierRow[], baseline: FrontierRow): Verdict {
  const [first] = own;
  if (first === undefined) throw new RangeError("No point to choose among");
  const chosen = baseline.quality.map((_, seed) => preferred(own, baseline, seed));
  const latency = {
    own: chosen.map((row, seed) => row.secondsPerToken[seed] ?? Number.NaN),
    reference: baseline.secondsPerToken,
  };
  const quality = { own: chosen.map((row, seed) => row.quality[seed] ?? Number.NaN), reference: baseline.quality };
  const names = chosen.map(systemOf);
  const times = (name: string): number => names.filter((one) => one === name).length;
  const picks = [...distinct(names)].sort((a, b) => times(b) - times(a));
  return { at: caseOf(baseline), latency, quality, kind: kindOf({ latency, quality }), picks };
}

function preferred(own: readonly FrontierRow[], baseline: FrontierRow, left: number): FrontierRow {
  const others = (values: readonly number[]): number => mean(values.filter((_, seed) => seed !== left));
  const known = own.map((row) => ({ row, seconds: others(row.secondsPerToken.map(Math.log)), quality: others(row.quality) }));
  const least = others(baseline.quality);
  const good = known.filter(({ quality }) => quality >= least);
  const best =
    good.length > 0
      ? good.reduce((one, other) => (other.seconds < one.seconds ? other : one))
      : known.reduce((one, other) => (other.quality > one.quality ? other : one));
  return best.row;
}

/** Faster with the whole interval, and no worse with the whole interval. */
export function kindOf({ latency, quality }: Contest): VerdictKind {
  const [faster, points] = [timesLess([latency]), differenceOf([quality])];
  if ((points?.low ?? Number.NEGATIVE_INFINITY) <= -NO_WORSE_POINTS) return "worse";
  if ((faster?.low ?? 0) > 1) return "dominates";
  return (faster?.value ?? 0) > 1 ? "not-surely-faster" : "slower";
}

/** Verdicts on a system, named by one or more names of rows, in every case with the baseline. */
export function verdicts(rows: readonly FrontierRow[], names: readonly string[], baseline = VLLM): readonly Verdict[] {
  return distinct(rows.map(caseOf)).flatMap((at) => {
    const here = rows.filter((row) => caseOf(row) === at);
    const other = here.find((row) => systemOf(row) === baseline);
    const own = here.filter(({ name }) => names.includes(name));
    return other === undefined || own.length === 0 ? [] : [verdictOn(own, other)];
  });
}

export const dominated = (of: readonly Verdict[]): number => of.filter(({ kind }) => kind === "dominates").length;

/** How often each variant dominates each baseline, and how often its points are better with the whole interval too. */
export function dominationTable(
  rows: readonly FrontierRow[],
  variants: readonly (readonly string[])[],
  baselines: readonly string[],
): string {
  const lines = baselines.map((baseline) => [
    baseline.split("|")[0] ?? "",
    ...variants.map((names) => {
      const found = verdicts(rows, names, baseline);
      const better = found.filter((one) => one.kind === "dominates" && (differenceOf([one.quality])?.low ?? -1) > 0).length;
      return `${dominated(found)} of ${found.length}, ${better} of them surely better`;
    }),
  ]);
  return table(["dominated", ...variants.map((names) => names.join(" or "))], lines);
}

/** Case by case: the verdict on Chimera, what was preferred, and where it does not dominate what was measured about why. */
export function verdictTable(rows: readonly FrontierRow[], names: readonly string[]): string {
  const oracle = verdicts(rows, ["oracle router"]);
  const lines = verdicts(rows, names).map((one) => {
    const baseline = rows.find((row) => caseOf(row) === one.at && systemOf(row) === VLLM);
    const known = oracle.find(({ at }) => at === one.at);
    const waits = mean((baseline?.queueSeconds ?? []).map((seconds, seed) => seconds / (baseline?.makespanSeconds[seed] ?? Number.NaN)));
    return [
      one.at.replace(" | ", ", load "),
      ratio(timesLess([one.latency])),
      signed(differenceOf([one.quality])),
      one.picks.slice(0, 2).map(pickText).join("; "),
      one.kind === "dominates" ? "dominates" : reasonOf(one.kind, waits, known),
    ];
  });
  return table(["ladder", "times faster a token", "points", "mostly at", "verdict"], lines);
}

/** A system in words: "Chimera, τ 4, margin 0.1". */
function pickText(system: string): string {
  const [name, tau, margin, setting] = system.split("|");
  return [name, tau !== "-" && `τ ${tau}`, margin !== "-" && margin !== "0" && `margin ${margin}`, setting !== "-" && `at ${setting}`]
    .filter((part) => part !== false)
    .join(", ");
}

/** Which part is at fault, from what was measured: waits that there are, and the same with a router that knows. */
function reasonOf(kind: VerdictKind, waits: number, known: Verdict | undefined): string {
  const share = `waits are ${(100 * waits).toFixed(waits < 0.1 ? 1 : 0)} % of a program's time under vLLM`;
  const told =
    known === undefined
      ? ""
      : `; a router that knows: ${ratio(timesLess([known.latency]))} times, ${signed(differenceOf([known.quality]))} points`;
  const said = { dominates: "", slower: "not faster", "not-surely-faster": "not surely faster", worse: "may be worse" }[kind];
  return `${said}: ${share}${told}`;
}
