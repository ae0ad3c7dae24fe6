import { exponential, type SeedEstimate, seedEstimate } from "@/solver/lab/overSeeds";
import { mean } from "@/solver/numeric/quantile";

/** A figure of one system and of another over the same programs: one value per seed each. */
export interface SeedPair {
  readonly own: readonly number[];
  readonly reference: readonly number[];
}

/** A figure of one system compared with another's, over every case with both. */
export function pairsIn<Row extends { readonly system: string }>(
  rows: readonly Row[],
  [own, reference]: readonly [own: string, reference: string],
  { figure, isSameCase }: { readonly figure: (row: Row) => readonly number[]; readonly isSameCase: (one: Row, other: Row) => boolean },
): readonly SeedPair[] {
  return rows.flatMap((row) => {
    const other = rows.find((one) => one.system === reference && isSameCase(one, row));
    return row.system === own && other !== undefined ? [{ own: figure(row), reference: figure(other) }] : [];
  });
}

export const distinct = <Value>(values: readonly Value[]): readonly Value[] => [...new Set(values)];

/** The mean over cases for each seed. */
function meansOf(pairs: readonly SeedPair[], of: (own: number, reference: number) => number): readonly number[] {
  const seeds = pairs[0]?.own.length ?? 0;
  return Array.from({ length: seeds }, (_, seed) =>
    mean(pairs.map(({ own, reference }) => of(own[seed] ?? Number.NaN, reference[seed] ?? Number.NaN))),
  );
}

/**
 * Ratio of the reference's figure to the own one's: of each seed the geometric mean over cases, over seeds with Student's 90 %
 * interval. Cases are summarised inside a seed first, as all of them share its split and draw. null where a figure is not above 0.
 */
export function timesLess(pairs: readonly SeedPair[]): SeedEstimate | null {
  const logarithm = seedEstimate(meansOf(pairs, (own, reference) => (own > 0 && reference > 0 ? Math.log(reference / own) : Number.NaN)));
  return logarithm && exponential(logarithm);
}

/** The own figure minus the reference's: of each seed the mean over cases, over seeds with Student's 90 % interval. */
export const differenceOf = (pairs: readonly SeedPair[]): SeedEstimate | null =>
  seedEstimate(meansOf(pairs, (own, reference) => own - reference));

/** The own figure divided by the reference's, likewise. */
export const ratioOf = (pairs: readonly SeedPair[]): SeedEstimate | null =>
  timesLess(pairs.map(({ own, reference }) => ({ own: reference, reference: own })));

/** Latency and quality of two systems on one ladder at one load. */
export interface Contest {
  readonly latency: SeedPair;
  readonly quality: SeedPair;
}
