import type { Benchmark, Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import cases from "./cases.json" with { type: "json" };
import { jointLiveBenchmarks } from "./live";
import { type MixRace, raceMix } from "./race";
import { ALONE, jointSystems, PAIRS, worthOf } from "./systems";
import { figuresTable, matrixTable, mixTable, tenthBelow, termsTable } from "./tables";
import { weightTable } from "./weights";

const race = once(async (): Promise<readonly MixRace[]> => {
  const races: MixRace[] = [];
  for (const seed of cases.mixes) {
    const begun = performance.now();
    races.push(await raceMix(seed, cases));
    process.stderr.write(`mix ${seed}: ${((performance.now() - begun) / 1000).toFixed(0)} s\n`);
    const rows = races.flatMap((one) => one.rows);
    writeRows("joint", rows);
    writeTables("joint", [mixTable(races), matrixTable(rows), termsTable(rows), figuresTable(rows)]);
  }
  return races;
});

const rowsOf = async () => (await race()).flatMap((one) => one.rows);

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

/** The joint policy against each system alone, and against the best pairs, on mixes that nothing was tuned on; and in a live gateway. */
export const jointBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      { name: "joint policy: weight of others' delay", budget: null, run: weighed },
      ...(["meanSeconds", "p95Seconds"] as const).flatMap((figure) => {
        const of = figure === "meanSeconds" ? "mean" : "p95";
        return [
          {
            name: `joint policy: ${of} latency, a tenth below the best alone`,
            budget: null,
            run: async () => tenthBelow(await rowsOf(), ALONE, figure),
          },
          {
            name: `joint policy: ${of} latency, a tenth below the best pair`,
            budget: null,
            run: async () => tenthBelow(await rowsOf(), PAIRS, figure),
          },
        ];
      }),
      ...jointLiveBenchmarks,
    ]
  : [];
