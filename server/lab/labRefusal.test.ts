import { describe, expect, test } from "vitest";
import type { FieldFault } from "@/server/contracts/studio";
import type { LabSpec } from "@/server/contracts/studio/lab";
import { faultSentence } from "@/server/lib/fieldFault";
import { labNotes } from "./labNotes";
import { planningPrograms } from "./labPrograms";
import { labRefusal, labRequests } from "./labRefusal";
import { testHardware, testSpec, testWorkload } from "./testing/testLab";

const spec = testSpec(["vLLM balancing", "LTR", "Chimera"]);
const premises = { workload: testWorkload, artefactOf: () => null, ...testHardware };
const sentenceOf = (fault: FieldFault | null): string | null => (fault === null ? null : faultSentence(fault));
const refusal = (change: Partial<LabSpec>): string | null => sentenceOf(labRefusal({ ...spec, ...change }, premises));
const [engine, ...otherEngines] = spec.replicas;
const [system, ...otherSystems] = spec.systems;
if (engine === undefined || system === undefined) throw new Error("nothing is suggested");

test("what is suggested is not refused", () => {
  expect(refusal({})).toBeNull();
  expect(refusal({ arrivals: "workload", queue: "centre", aging: null })).toBeNull();
});

describe("a description that cannot be run is refused with the field", () => {
  const cases: readonly (readonly [Partial<LabSpec>, RegExp])[] = [
    [{ mix: [{ workflow: "knitting", share: 1 }] }, /^mix\.0\.workflow: there is no workflow "knitting"; known are .*planner-coder/],
    [{ seeds: [1, 2, 1] }, /^seeds\.2: 1 is listed twice\.$/],
    [{ rates: [3, 3] }, /^rates\.1: 3 is listed twice\.$/],
    [
      { replicas: [...otherEngines, { ...engine, model: "llama-3.1-8b" }] },
      /^replicas\.2\.model: the workload has no answers of llama-3\.1-8b/,
    ],
    [{ replicas: [{ ...engine, gpu: "abacus" }] }, /^replicas\.0: There is no card of abacus\.$/],
    [{ replicas: [{ ...engine, model: "qwen2.5-32b" }] }, /^replicas\.0: qwen2\.5-32b with tp 1 and pp 1 does not fit l40s by its card/],
    [{ replicas: [engine] }, /^systems\.0 \(vLLM balancing\): No engine of the race serves qwen2\.5-7b/],
    [{ systems: [...otherSystems, { ...system, lengths: "oracle" }] }, /^systems\.8 \(vLLM balancing\): Nothing here reads lengths/],
    [
      { systems: otherSystems.map((own) => (own.name === "LTR" ? { ...own, lengths: { artefact: "ab".repeat(32) } } : own)) },
      /^systems\.0\.lengths \(LTR\): no predictor abababababab is kept here\.$/,
    ],
    [
      { ...testSpec(["MLFQ, preempting"]), queue: "centre", aging: null },
      /^systems\.0\.policy\.order\.preempts \(MLFQ, preempting\): a request that was sent from a central queue is not taken back/,
    ],
    [
      { programs: 100_000, seeds: Array.from({ length: 20 }, (_, seed) => seed), rates: Array.from({ length: 12 }, (_, at) => at + 1) },
      /^programs: the run would serve \d+ million requests/,
    ],
    [
      {
        systems: Array.from({ length: 40 }, () => system),
        seeds: Array.from({ length: 20 }, (_, seed) => seed),
        rates: Array.from({ length: 12 }, (_, at) => at + 1),
      },
      /^systems: 40 systems at 12 rates under 20 seeds are 9,600 cells, and a run takes at most 3,000: ask for fewer\.$/,
    ],
  ];
  test.each(cases)("%#", (change, said) => {
    expect(refusal(change)).toMatch(said);
  });
});

test("requests of a run are those that its programs make when they are drawn, in whichever shape", () => {
  for (const workflow of ["coder", "qa-router", "code-with-feedback"]) {
    const mix = [{ workflow, share: 0.7 }];
    const drawn = planningPrograms({ mix, correlation: 0 }, testWorkload, testWorkload.outcomes, 4000).row.length;
    const said = labRequests({ ...spec, mix, programs: 4000, rates: [1], seeds: [1], systems: [system] });
    expect(drawn / said).toBeGreaterThan(0.97);
    expect(drawn / said).toBeLessThan(1.03);
  }
});

test("arrivals that are all at one time have no rate to be scaled from", () => {
  const workload = { ...testWorkload, arrivalSeconds: Float64Array.of(0, 0, 0) };
  expect(sentenceOf(labRefusal({ ...spec, arrivals: "workload" }, { ...premises, workload }))).toMatch(/^arrivals: the first 60 arrivals/);
});

test("notes say what is modelled, what is not at hand and how many seeds there are", () => {
  const notes = (change: Partial<LabSpec>, texts = false): string =>
    labNotes({ spec: { ...spec, ...change }, workload: testWorkload, texts, ...testHardware }).join("\n");
  expect(notes({})).toMatch(
    /Engines are modelled[\s\S]*Programs are modelled[\s\S]*workload is generated[\s\S]*No texts of prompts are at hand/,
  );
  expect(notes({}, true)).not.toMatch(/No texts/);
  expect(notes({ systems: [system] })).not.toMatch(/No texts/);
  expect(notes({ seeds: [4] })).toMatch(/One seed: no interval/);
  expect(notes({ seeds: [4, 5] })).toMatch(/all seeds share the prompts that were held out/);
  expect(notes({ programs: 60, rates: [0.5, 20] })).toMatch(/At 20 programs\/s 60 programs come for 3 s only/);
  expect(notes({ programs: 60, rates: [0.5, 1] })).not.toMatch(/s only/);
  expect(notes({})).toMatch(/qwen2\.5-3b on l40s are extrapolated/);
});

test("notes say what a race cannot tell on engines like its own", () => {
  const notes = (change: Partial<LabSpec>): string =>
    labNotes({
      spec: { ...testSpec(["Parrot", "Kairos, no priority"]), ...change },
      workload: testWorkload,
      texts: true,
      ...testHardware,
    }).join("\n");
  expect(notes({})).toMatch(
    /60 programs have at most about 60 requests under way[\s\S]*Parrot; Kairos, no priority\. Give a model two engines/,
  );
  const two = spec.replicas.map((each) => ({ ...each, count: 2, maxSequences: 4 }));
  expect(notes({ replicas: two })).not.toMatch(/under way|two engines/);
});

test("notes say that without a margin a router that is always surer of one model chooses nothing", () => {
  const notes = (names: readonly string[]): string =>
    labNotes({ spec: testSpec(names), workload: testWorkload, texts: true, ...testHardware }).join("\n");
  expect(notes(["Chimera"])).toMatch(/Without a margin/);
  for (const name of ["Chimera at slack 2", "Chimera, no router", "Chimera, oracle router"])
    expect(notes([name])).not.toMatch(/Without a margin/);
});
