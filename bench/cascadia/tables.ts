import { mean } from "@/solver/numeric/quantile";
import { distinct, ratioOf, type SeedPair } from "../lib/bySeed";
import { ratio, table } from "../lib/tables";
import { type CascadiaTarget, cascadiaCases } from "./cases";
import type { RaceRow } from "./race";

/** What would make a row's figures wrong, or Weir's advantage over the system vanish. */
const FAILS_IF: Readonly<Record<string, string>> = {
  Weir: "peers agree on wrong answers more often on other traffic, or heads do not carry over to it",
  "judge cascade": "a measured judge is more reliable than AUC .80, or smaller than 7B",
  "AutoMix, AUC .75": "small models verify themselves better than the assumed AUC .75",
  AutoMix: "small models verify themselves better than the assumed AUC .65",
  "trained router": "prompts say more about difficulty than words do here (AUC .55 to .69)",
  CascadeServe: "lengths do not depend on the stage, and the deadline is far from the end-to-end p95",
  "CascadeServe, complexity-blind": "traffic is always as difficult as its profile",
  "largest model alone": "the floor is at or above the largest model's quality",
  "Sarathi-Serve": "prompts are long against answers; here they are short, and budgets differ little",
};

type Figure = (row: RaceRow) => number | null;

const highestOf: Figure = ({ highest }) => highest?.requestsPerSecond ?? null;
const keptOf: Figure = ({ kept }) => (kept === 0 ? null : kept);
const costOf: Figure = ({ half }) => (half?.p95Seconds == null ? null : half.costUsdPerRequest);

/** A figure of two systems by case, where both have it under every seed. */
function pairs(rows: readonly RaceRow[], other: string, figure: Figure): readonly (SeedPair & { readonly case: string })[] {
  return casesOf(rows).flatMap((name) => {
    const of = (system: string): (number | null)[] => rows.filter((row) => row.case === name && row.system === system).map(figure);
    const [own, reference] = [of("Weir"), of(other)];
    const known = (values: readonly (number | null)[]): values is readonly number[] => values.length > 0 && !values.includes(null);
    return known(own) && known(reference) ? [{ case: name, own, reference }] : [];
  });
}

/** The rows of those seeds that every case has: a ladder may have been run under fewer. */
export function ofCommonSeeds(rows: readonly RaceRow[]): readonly RaceRow[] {
  const cases = casesOf(rows);
  const common = distinct(rows.map(({ seed }) => seed)).filter(
    (seed) => distinct(rows.filter((row) => row.seed === seed).map((row) => row.case)).length === cases.length,
  );
  return rows.filter(({ seed }) => common.includes(seed));
}

export function seedSentence(rows: readonly RaceRow[]): string {
  const seeds = [...distinct(rows.map(({ seed }) => seed))].sort((a, b) => a - b);
  return `Over ${casesOf(rows).length} cases of ${distinct(rows.map(({ ladder }) => ladder)).length} ladders, each under the seeds ${seeds.join(", ")}.`;
}

/** Named by the share of the way to the floor: points of floors differ between seeds. */
export const casesOf = (rows: readonly RaceRow[]): readonly string[] => distinct(rows.map((row) => row.case));

const inverse = (of: readonly SeedPair[]): readonly SeedPair[] => of.map(({ own, reference }) => ({ own: reference, reference: own }));

/** Every other system against Weir: above 1 Weir is better. Weir's own row has no ratio. */
export function ratioTable(rows: readonly RaceRow[]): string {
  const cases = casesOf(rows).length;
  return table(
    [
      ...["against", "highest rate, re-planned", "in how many cases", "least case", "highest rate, plan kept"],
      ...cascadiaCases.sloRates.map((share) => `SLO scale at ${share} of CascadeServe's rate (cases)`),
      ...["cost at half of CascadeServe's rate", "floor held", "fails if"],
    ],
    distinct(rows.map(({ system }) => system)).map((system) => {
      const against = (figure: Figure) => (system === "Weir" ? [] : pairs(rows, system, figure));
      const own = against(highestOf);
      const held = rows.filter((row) => row.system === system && row.highest !== null);
      const least = leastCase(own);
      return [
        ...[system, ratio(ratioOf(own)), `${own.length} of ${cases}`, least === null ? "-" : `${least.ratio.toFixed(2)} (${least.case})`],
        ratio(ratioOf(against(keptOf))),
        ...cascadiaCases.sloRates.map((_, at) => {
          const scales = against(({ scales }) => scales[at]?.sloScale ?? null);
          return `${ratio(ratioOf(inverse(scales)))} (${scales.length})`;
        }),
        ratio(ratioOf(inverse(against(costOf)))),
        `${held.filter(({ highest, floor }) => (highest?.quality ?? 0) >= floor).length} of ${held.length}`,
        FAILS_IF[system] ?? "-",
      ];
    }),
  );
}

/** The case with the smallest ratio of highest rates, by the mean over seeds. */
function leastCase(of: readonly (SeedPair & { readonly case: string })[]): { readonly case: string; readonly ratio: number } | null {
  const ratios = of.map((pair) => ({ case: pair.case, ratio: mean(pair.own) / mean(pair.reference) }));
  return ratios.sort((a, b) => a.ratio - b.ratio)[0] ?? null;
}

/** By case: each system's highest rate and quality there, and cost of a million requests at half of CascadeServe's rate, mean over seeds. */
export function caseTable(rows: readonly RaceRow[]): string {
  const systems = distinct(rows.map(({ system }) => system));
  return table(
    ["case", ...systems],
    casesOf(rows).map((name) => [
      name,
      ...systems.map((system) => {
        const all = rows.filter((row) => row.case === name && row.system === system);
        const own = all.flatMap(({ highest }) => highest ?? []);
        if (own.length === 0) return "-";
        const costs = all.flatMap((row) => costOf(row) ?? []);
        const cost = costs.length === 0 ? "-" : `${(1e6 * mean(costs)).toFixed(0)} USD`;
        return `${mean(own.map((one) => one.requestsPerSecond)).toFixed(0)}/s, ${mean(own.map((one) => one.quality)).toFixed(1)}, ${cost}`;
      }),
    ]),
  );
}

/** Every system's plan at its highest rate under the first seed. */
export const planTable = (rows: readonly RaceRow[]): string =>
  table(
    ["case", "system", "rate", "gate", "GPUs in use (of these the gate's)", "plan"],
    rows
      .filter((row) => row.seed === cascadiaCases.seeds[0])
      .flatMap(({ case: name, system, highest }) =>
        highest === null
          ? []
          : [
              [
                ...[name, system, `${highest.requestsPerSecond.toFixed(0)}/s`, highest.gate],
                `${highest.gpus} (${highest.gateGpus})`,
                highest.cascade,
              ],
            ],
      ),
  );

/** A target beside what was measured. */
interface TargetResult {
  readonly target: CascadiaTarget;
  /** The mean ratio over cases, or the least case's. */
  readonly ratio: number | null;
  readonly detail: string;
}

export function targetResults(rows: readonly RaceRow[]): readonly TargetResult[] {
  return cascadiaCases.targets.map((target) => {
    const own = pairs(rows, target.against, highestOf);
    const [least, all] = [leastCase(own), ratioOf(own)];
    const detail =
      least === null
        ? "in no case"
        : `mean ${ratio(all)} in ${own.length} of ${casesOf(rows).length} cases, least ${least.ratio.toFixed(2)} (${least.case})`;
    return { target, ratio: (target.inEveryCase ? least?.ratio : all?.value) ?? null, detail };
  });
}

export const targetTable = (rows: readonly RaceRow[]): string =>
  table(
    ["target", "at least", "measured", "", "detail"],
    targetResults(rows).map(({ target, ratio: measured, detail }) => [
      `${target.figure} over ${target.against}${target.inEveryCase ? ", in every case" : ", mean"}`,
      target.atLeast.toFixed(2),
      measured?.toFixed(2) ?? "-",
      measured !== null && measured >= target.atLeast ? "kept" : "missed",
      detail,
    ]),
  );
