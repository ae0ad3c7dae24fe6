import { expect, test } from "vitest";
import type { LabCell } from "./labCell";
import type { LabSpec } from "./labSpec";
import { rateNotes } from "./rateNotes";

const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
const spec: Pick<LabSpec, "systems" | "rates" | "replicas" | "mix" | "programs"> = {
  ...{ rates: [10, 30], mix: [{ workflow: "coder", share: 1 }], programs: 1000 },
  replicas: [{ model: "m", gpu: "l40s", precision: "bf16", tp: 1, pp: 1, count: 1 }],
  systems: ["balanced", "feedback, levels", "shortest"].map((name) => ({
    ...{ name, policy: { kind: "fixed", model: "m", ...queueing }, lengths: "none", confidence: "none" },
  })),
};

const cellOf = (key: Pick<LabCell, "system" | "rate" | "seed">, change: Partial<LabCell>): LabCell => ({
  ...{ ...key, programs: 100, requests: 200, unserved: 0, meanSeconds: 10, latencyQuantiles: [], meanSecondsPerToken: 0.01 },
  ...{ meanQueueSeconds: 0.05, longestWaitSeconds: 2, queueByLength: [], quality: null, programsPerSecond: 9.5, usdPerProgram: 0.01 },
  ...{ preemptions: 0, promotions: 0, models: [], digest: `${key.system} ${key.rate} ${key.seed}` },
  ...change,
});
const cells = (rate: number, changes: readonly Partial<LabCell>[]): LabCell[] =>
  changes.flatMap((change, system) => [0, 1].map((seed) => cellOf({ system, rate, seed }, change)));

test("systems that came out the same to the digit are named together, with why where hardly anything waited", () => {
  const idle = cells(0, [{ digest: "a" }, { digest: "a" }, {}]);
  expect(rateNotes(spec, idle, 0)).toEqual([
    expect.stringMatching(
      /^These did not differ, to the last digit: balanced; feedback, levels\. Hardly anything waited there \(50 ms of 10 s\)/,
    ),
  ]);
  const busy = cells(0, [{ digest: "a", meanQueueSeconds: 4 }, { digest: "a", meanQueueSeconds: 4 }, {}]);
  expect(rateNotes(spec, busy, 0)).toEqual(["These did not differ, to the last digit: balanced; feedback, levels."]);
  // Under one seed of two they did.
  const [first, ...others] = idle;
  expect(rateNotes(spec, [...others, { ...(first as LabCell), digest: "b" }], 0)).toEqual([]);
});

test("a higher rate is advised only where programs could fill the engines, else more programs or engines that run fewer at once", () => {
  const idle = cells(0, [{ digest: "a" }, { digest: "a" }, {}]);
  expect(rateNotes(spec, idle, 0)[0]).toMatch(/nothing to choose between\. Race them at a higher rate, or with fewer requests at once/);
  const few = rateNotes({ ...spec, programs: 250 }, idle, 0)[0];
  expect(few).toMatch(/a higher rate makes no queue either: 250 programs .* 256 at once\. Take more programs, or fewer requests at once/);
  const [engine] = spec.replicas;
  expect(
    rateNotes({ ...spec, programs: 250, replicas: [{ ...(engine as (typeof spec.replicas)[number]), maxSequences: 249 }] }, idle, 0)[0],
  ).toMatch(/Race them at a higher rate/);
});

test("systems that came out alike and differ in their place alone are said to need two engines of a model", () => {
  const [first, , last] = spec.systems;
  if (first === undefined || last === undefined) throw new Error("There are three systems");
  const turned: LabSpec["systems"][number] = { ...first, name: "in turn", policy: { ...first.policy, place: { kind: "round-robin" } } };
  const placed = { ...spec, systems: [first, turned, last] };
  const alike = cells(0, [{ digest: "a", meanQueueSeconds: 4 }, { digest: "a", meanQueueSeconds: 4 }, {}]);
  expect(rateNotes(placed, alike, 0)).toEqual([
    expect.stringMatching(
      /^These did not differ, to the last digit: balanced; in turn\. .*each model has one\. Give a model two engines or more/,
    ),
  ]);
  const two = placed.replicas.map((each) => ({ ...each, count: 2 }));
  expect(rateNotes({ ...placed, replicas: two }, alike, 0)).toEqual(["These did not differ, to the last digit: balanced; in turn."]);
});

test("where engines do not keep up, it is said of which systems", () => {
  const behind = { programsPerSecond: 18, meanSeconds: 800, meanQueueSeconds: 790 };
  expect(rateNotes(spec, cells(1, [behind, behind, { programsPerSecond: 29 }]), 1)).toEqual([
    expect.stringMatching(
      /^Engines are overloaded at 30 programs\/s under balanced; feedback, levels: .*grow with the number of programs\.$/,
    ),
  ]);
  expect(rateNotes(spec, cells(1, [behind, behind, behind]), 1)).toEqual([expect.stringContaining("under any system")]);
  // A short run serves less than arrives because of the time of its last programs alone.
  expect(rateNotes(spec, cells(1, [{ programsPerSecond: 18 }, {}, {}]), 1)).toEqual([]);
});
