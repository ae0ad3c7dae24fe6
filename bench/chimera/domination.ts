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

/** How much quality a point may lose in the mean over the other seeds and still be chosen: none, as fixed before the runs. */
const CHOSEN_LOSS = 0;

/** A system's points in one case, of which each seed is measured at the one that the other seeds prefer, against a baseline. */
export interface Verdict extends Contest {
  readonly at: string;
  readonly kind: VerdictKind;
  /** The points that were preferred, most often first. */
  readonly picks: readonly string[];
}

/**
 * The verdict on a system in one case. A point that is chosen on the same seeds that it is measured on wins by chance; so each seed is
 * measured at the point that is the fastest of those that lose no more than a limit against the baseline in the mean over the other seeds,
 * or, where none is, at that of the highest quality there.
 *
 * @param own rows of the system's points in the case
 * @param baseline row of the baseline in the case
 * @param loss the limit, points
 * @throws RangeError without points
 */
export function verdictOn(own: readonly FrontierRow[], baseline: FrontierRow, loss = CHOSEN_LOSS): Verdict {
  const [first] = own;
  if (first === undefined) throw new RangeError("No point to choose among");
  const chosen = baseline.quality.map((_, seed) => preferred(own, baseline, { left: seed, loss }));
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

function preferred(
  own: readonly FrontierRow[],
  baseline: FrontierRow,
  { left, loss }: { readonly left: number; readonly loss: number },
): FrontierRow {
  const others = (values: readonly number[]): number => mean(values.filter((_, seed) => seed !== left));
  const known = own.map((row) => ({ row, seconds: others(row.secondsPerToken.map(Math.log)), quality: others(row.quality) }));
  const least = others(baseline.quality) - loss;
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
export function verdicts(
  rows: readonly FrontierRow[],
  names: readonly string[],
  { baseline = VLLM, loss = CHOSEN_LOSS }: { readonly baseline?: string; readonly loss?: number } = {},
): readonly Verdict[] {
  return distinct(rows.map(caseOf)).flatMap((at) => {
    const here = rows.filter((row) => caseOf(row) === at);
    const other = here.find((row) => systemOf(row) === baseline);
    const own = here.filter(({ name }) => names.includes(name));
    return other === undefined || own.length === 0 ? [] : [verdictOn(own, other, loss)];
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
      const found = verdicts(rows, names, { baseline });
      const better = found.filter((one) => one.kind === "dominates" && (differenceOf([one.quality])?.low ?? -1) > 0).length;
      return `${dominated(found)} of ${found.length}, ${better} of them surely better`;
    }),
  ]);
  return table(["dominated", ...variants.map((names) => names.join(" or "))], lines);
}

/** Case by case: the verdict on Chimera, what was preferred, and where it does not dominate which rule or measured figure is the reason. */
export function verdictTable(rows: readonly FrontierRow[], names: readonly string[]): string {
  const beside = { oracle: verdicts(rows, ["oracle router"]), loadRule: verdicts(rows, ["load rule only"]) };
  const lines = verdicts(rows, names).map((one) => {
    const baseline = rows.find((row) => caseOf(row) === one.at && systemOf(row) === VLLM);
    const waits = mean((baseline?.queueSeconds ?? []).map((seconds, seed) => seconds / (baseline?.makespanSeconds[seed] ?? Number.NaN)));
    const reason = [
      SAID[one.kind],
      ...pointReasons(rows, names, one.at),
      ...againstText("the load rule alone", beside.loadRule, one.at),
      ...againstText("an oracle router, which knows which model is right", beside.oracle, one.at),
    ];
    return [
      one.at.replace(" | ", ", load "),
      ratio(timesLess([one.latency])),
      signed(differenceOf([one.quality])),
      one.picks.slice(0, 2).map(pickText).join("; "),
      `${(100 * waits).toFixed(1)} %`,
      one.kind === "dominates" ? SAID.dominates : reason.join("; "),
    ];
  });
  return table(["ladder", "times faster a token", "points", "mostly at", "waits under vLLM, of a program's time", "verdict"], lines);
}

const SAID: Readonly<Record<VerdictKind, string>> = {
  dominates: "dominates",
  slower: "not faster",
  "not-surely-faster": "not surely faster",
  worse: "may be worse",
};

/** A system in words: "Chimera, τ 4, margin 0.1". */
function pickText(system: string): string {
  const [name, tau, margin, setting] = system.split("|");
  return [name, tau !== "-" && `τ ${tau}`, margin !== "-" && margin !== "0" && `margin ${margin}`, setting !== "-" && `at ${setting}`]
    .filter((part) => part !== false)
    .join(", ");
}

const contestText = ({ latency, quality }: Contest): string =>
  `${ratio(timesLess([latency]))} times, ${signed(differenceOf([quality]))} points`;

function againstText(what: string, found: readonly Verdict[], at: string): readonly string[] {
  const own = found.find((one) => one.at === at);
  return own === undefined ? [] : [`${what}: ${contestText(own)}`];
}

/** Every point of a system in a case with all seeds at it, so without a choice; the fastest first. */
function fixedPoints(rows: readonly FrontierRow[], names: readonly string[], at: string) {
  const here = rows.filter((row) => caseOf(row) === at);
  const baseline = here.find((row) => systemOf(row) === VLLM);
  if (baseline === undefined) return [];
  return here
    .filter(({ name }) => names.includes(name))
    .map((row) => {
      const latency = { own: row.secondsPerToken, reference: baseline.secondsPerToken };
      const contest: Contest = { latency, quality: { own: row.quality, reference: baseline.quality } };
      return { name: systemOf(row), contest, kind: kindOf(contest), times: timesLess([latency])?.value ?? 0 };
    })
    .sort((a, b) => b.times - a.times);
}

/** Why no point was both chosen and dominating: a rule left it out, or there is none. */
function pointReasons(rows: readonly FrontierRow[], names: readonly string[], at: string): readonly string[] {
  const points = fixedPoints(rows, names, at);
  const textOf = (one: (typeof points)[number]): string => `${pickText(one.name)} (${contestText(one.contest)})`;
  const leftOut = points.find(({ kind }) => kind === "dominates");
  if (leftOut !== undefined)
    return [
      `the choice allows no loss in the mean and so did not settle on ${textOf(leftOut)}, which dominates as the verdict allows ${NO_WORSE_POINTS} point`,
    ];
  const [fastest] = points;
  const held = points.find(({ kind }) => kind !== "worse");
  return [
    "no point dominates",
    ...(fastest === undefined ? [] : [`the fastest is ${textOf(fastest)}`]),
    ...(held === undefined || held === fastest ? [] : [`of those that are no worse ${textOf(held)}`]),
  ];
}

/** The cases that are dominated under the rule of choice that was fixed before the runs, and under the verdict's own limit. */
export function choiceSentence(rows: readonly FrontierRow[], names: readonly string[]): string {
  const found = verdicts(rows, names);
  const loose = verdicts(rows, names, { loss: NO_WORSE_POINTS });
  const leftOut = found.filter(
    ({ at, kind }) => kind !== "dominates" && fixedPoints(rows, names, at).some((point) => point.kind === "dominates"),
  );
  const of = ` of ${found.length}`;
  return `Each seed at the fastest point that loses nothing in the mean, the rule fixed before the runs: ${dominated(found)}${of}. At the fastest that loses no more than ${NO_WORSE_POINTS} point, as the verdict allows: ${dominated(loose)}${of}; that rule would be chosen after the fact and does not count. In ${leftOut.length}${of} the first rule passes over a point that dominates.`;
}
