import { mean } from "@/solver/numeric/quantile";
import type { ComparedCase } from "./compareSystems";

/** The mean results of a kind of baseline over all cases. */
export interface ComparedMean {
  readonly kind: string;
  /** Cases in which it was measured. */
  readonly cases: number;
  /** Of those, the number in which it sustains the compared rate. */
  readonly keepsUp: number;
  /**
   * Mean of its SLO scale over Weir's, over the cases in which it is not overloaded: an overloaded system's grows with the length of the
   * run. null if there are none.
   */
  readonly sloScale: number | null;
  /** The same over all its cases; overloaded ones count with their value at the end of the simulated run. */
  readonly sloScaleOfRun: number;
  /** Mean of Weir's highest rate over its own, if both keep the SLO at some rate; null if there is no such case. */
  readonly throughput: number | null;
  /** Cases behind `throughput`. */
  readonly throughputCases: number;
  /** The same with both planned anew for every rate; null where that was not asked, or there is no such case. */
  readonly replanned: number | null;
  /** Cases in which it kept the floor on the measuring half. */
  readonly heldFloor: number;
}

/** Means over cases by kind of system, in the order in which the kinds first appear. */
export function comparedMeans(cases: readonly Pick<ComparedCase, "floor" | "systems">[]): ComparedMean[] {
  const all = cases.flatMap(({ floor, systems }) => systems.map((system) => ({ floor, ...system })));
  return [...new Set(all.map(({ kind }) => kind))].map((kind) => {
    const own = all.filter((system) => system.kind === kind);
    const keepingUp = own.filter(({ busiestLoad, against }) => busiestLoad < 1 && Number.isFinite(against.sloScale));
    const throughputs = own.flatMap(({ against }) => (against.throughput === null || against.throughput === 0 ? [] : [against.throughput]));
    const replanned = own.flatMap(({ against }) => against.replanned || []);
    return {
      kind,
      cases: own.length,
      keepsUp: keepingUp.length,
      sloScale: keepingUp.length === 0 ? null : mean(keepingUp.map(({ against }) => against.sloScale)),
      sloScaleOfRun: mean(own.map(({ against }) => against.sloScale)),
      throughput: throughputs.length === 0 ? null : mean(throughputs),
      throughputCases: throughputs.length,
      replanned: replanned.length === 0 ? null : mean(replanned),
      heldFloor: own.filter(({ quality, floor }) => quality >= floor).length,
    };
  });
}
