import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import cases from "./cases.json" with { type: "json" };
import { type MixRace, raceMix } from "./race";
import { ALONE, jointSystems, PAIRS, worthOf } from "./systems";
import { type Comparison, comparisons, figuresTable, matrixTable, mixTable, termsTable } from "./tables";
import { weightTable } from "./weights";

const race = once(async (): Promise<readonly MixRace[]> => {
  const races: MixRace[] = [];
  for (const seed of cases.mixes) {
    const begun = performance.now();
    races.push(await raceMix(seed, cases));
    process.stderr.write(`mix ${seed}: ${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
  }
  const rows = races.flatMap((one) => one.rows);
  writeRows("joint", rows);
  writeTables("joint", [mixTable(races), matrixTable(rows), termsTable(rows), figuresTable(rows)]);
  return races;
});

/** The share of cases in which the joint policy's figure is at most nine tenths of the best other's, beyond the noise of the seeds. */
async function tenthBelow(against: readonly string[], figure: "meanSeconds" | "p95Seconds"): Promise<Measurement> {
  const rows = (await race()).flatMap((one) => one.rows);
  const all = comparisons(rows, against, figure);
  const compared = all.filter(({ ratio }) => ratio !== null);
  const better = compared.filter(({ ratio }) => (ratio?.value ?? 1) <= 0.9 && (ratio?.high ?? 1) < 1);
  const worse = compared.filter(({ ratio }) => (ratio?.low ?? 0) > 1);
  const named = (one: Comparison): string => `${one.mix}, ${one.load}, ${one.part}: ${one.ratio?.value.toFixed(2)} of ${one.best}`;
  return {
    figure: (100 * better.length) / compared.length,
    unit: "% of the cases",
    detail: `lower by a tenth at least, beyond noise, than the best of ${against.join(", ")} whose quality is within a point: ${better.length} of ${compared.length} parts of ${cases.mixes.length} mixes at loads of ${cases.loads.join(", ")}; in ${all.length - compared.length} none is as good; worse beyond noise in ${worse.length}${worse.length === 0 ? "" : ` (${worse.map(named).join("; ")})`}; ${cases.seeds.length} seeds, engines that deviate from the profile by the seed`,
  };
}

/** The weight of others' delay on the tuning mixes. */
async function weighed(): Promise<Measurement> {
  const { mixes, seeds, delayWeights } = cases.tuning;
  const races: MixRace[] = [];
  for (const seed of mixes) {
    races.push(
      await raceMix(seed, { ...cases, seeds }, (parts) => {
        const joint = jointSystems(parts).find(({ name }) => name === "joint");
        if (joint?.policy.kind !== "just-in-time") throw new Error("There is no joint policy among the systems.");
        const { policy } = joint;
        return delayWeights.map((weight) => ({ ...joint, name: `${weight}`, policy: { ...policy, selection: worthOf(weight) } }));
      }),
    );
  }
  const rows = races.flatMap((one) => one.rows);
  const { text, best } = weightTable(rows);
  writeTables("joint-weights", [text]);
  return {
    figure: best,
    unit: "weight",
    detail: `with the least mean latency over ${mixes.length} mixes that are not measured, loads of ${cases.loads.join(", ")} and ${seeds.length} seeds, of ${delayWeights.join(", ")}`,
  };
}

/** The joint policy against each system alone, and against the best pairs, on mixes that nothing was tuned on. */
export const jointBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      { name: "joint policy: weight of others' delay", budget: null, run: weighed },
      ...(["meanSeconds", "p95Seconds"] as const).flatMap((figure) => {
        const of = figure === "meanSeconds" ? "mean" : "p95";
        return [
          { name: `joint policy: ${of} latency, a tenth below the best alone`, budget: null, run: () => tenthBelow(ALONE, figure) },
          { name: `joint policy: ${of} latency, a tenth below the best pair`, budget: null, run: () => tenthBelow(PAIRS, figure) },
        ];
      }),
    ]
  : [];
