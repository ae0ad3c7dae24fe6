import { loadavg } from "node:os";
import { oraclePredictions } from "@/solver/workflow/oraclePredictions";
import { generatedWorkload } from "@/solver/workload/generated";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { workflowsOf } from "../lib/ladders";
import { once } from "../lib/once";
import { writeRows, writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { type Agreement, type AgreementCase, runAgreement } from "./agreementRun";
import { learntCase } from "./learnt";
import { agreementSetup, policyOf } from "./setup";

interface Case {
  readonly name: string;
  readonly load: number;
  /** Condition under which engines deviate from their model; left out: they do not. */
  readonly modelPerturbation?: string;
  readonly make: (load: number) => AgreementCase | Promise<AgreementCase>;
}

const slack = "slack dispatch, shortest program first";

const cases: readonly Case[] = [
  { name: "vLLM balancing", load: 0.8, make: saidCase("vLLM balancing") },
  { name: slack, load: 0.8, make: saidCase("Chimera") },
  { name: `${slack}, above saturation`, load: 1.1, make: saidCase("Chimera") },
  ...["a", "b", "c"].map((modelPerturbation) => ({
    name: `${slack}, engines unlike their model (${modelPerturbation})`,
    ...{ load: 0.8, modelPerturbation, make: saidCase("Chimera") },
  })),
  ...(dataPresent() ? [{ name: `${slack}, by predictors in the gateway`, load: 0.8, make: learntCase }] : []),
];

/** Programs of generated answers, whose clients state their lengths and the confidence in each model. */
function saidCase(system: "vLLM balancing" | "Chimera"): Case["make"] {
  return (load) => {
    const { outcomes } = generatedWorkload({ prompts: 1000, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 1 });
    const setup = agreementSetup({
      ...{ outcomes, prompts: Int32Array.from(outcomes.promptIds.keys()), workflowNames: workflowsOf.crux },
      ...{ programs: 300, load, enginesEach: 1, maxInFlight: 16, seed: 1 },
    });
    return { setup, policy: policyOf(setup, system), prediction: { by: "clients", said: oraclePredictions(setup.sample) } };
  };
}

/** Cases that run at once: each takes a small part of a core, and all of them end within six minutes. */
const AT_ONCE = 2;

interface Ran extends Case {
  readonly agreement: Agreement;
  /** Processes waiting for a core before the first case began. */
  readonly loadBefore: number;
}

/** Runs all cases, whatever the number of requested cases, and writes them as one table. Long computations are done before any begins. */
const runAll = once(async (): Promise<readonly Ran[]> => {
  const made: AgreementCase[] = [];
  for (const { make, load, modelPerturbation } of cases) made.push({ ...(await make(load)), modelPerturbation });
  const [loadBefore = 0] = loadavg();
  const ran: Ran[] = [];
  const left = [...cases.entries()];
  const takeOne = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [at, one] = next;
      const of = made[at];
      if (of === undefined) continue;
      ran[at] = { ...one, agreement: await runAgreement(of), loadBefore };
      process.stderr.write(`agreement: ${one.name}\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, takeOne));
  writeRows("agreement", ran);
  const parts = [agreementTable(ran), words(loadBefore, ran)];
  writeTables("agreement", parts);
  process.stderr.write(`\n${parts.join("\n")}\n`);
  return ran;
});

async function measured(name: string): Promise<Measurement> {
  const ran = (await runAll()).find((one) => one.name === name);
  if (ran === undefined) throw new Error(`${name} was not run`);
  return measurementOf(ran);
}

function agreementTable(ran: readonly Ran[]): string {
  const header = ["run", "load", "measured", "predicted", "off", "band of a plan", "p95", "ms a token", "quality", "same model"];
  const lines = ran.map(({ name, load, agreement }) => {
    const { measuredSeconds, predictedSeconds, band, ratio } = agreement;
    const covers = measuredSeconds >= band.low && measuredSeconds <= band.high;
    return [
      ...[name, String(load), seconds(measuredSeconds), seconds(predictedSeconds), `${(100 * Math.abs(ratio - 1)).toFixed(1)} %`],
      `${seconds(band.low)} to ${seconds(band.high)}${covers ? "" : ": **not covered**"}`,
      `${seconds(agreement.measuredP95Seconds)}, ${seconds(agreement.predictedP95Seconds)}`,
      `${(1000 * agreement.measuredSecondsPerToken).toPrecision(3)}, ${(1000 * agreement.predictedSecondsPerToken).toPrecision(3)}`,
      `${agreement.measuredQuality.toFixed(1)}, ${agreement.predictedQuality.toFixed(1)}`,
      `${Math.round(100 * agreement.sameModelShare)} %`,
    ];
  });
  return table(header, lines);
}

function words(loadBefore: number, ran: readonly Ran[]): string {
  const [first] = ran;
  const late = Math.max(...ran.map(({ agreement }) => 1000 * agreement.lateSeconds));
  const failed = ran.reduce((sum, { agreement }) => sum + agreement.failures.length, 0);
  return `Each of ${first?.agreement.programs} programs; of two figures the first is measured. ${failed} failed; one program in twenty began ${Math.round(late)} ms late or later in the worst run; load average before the first ${loadBefore.toFixed(1)}.`;
}

function measurementOf({ agreement, load, modelPerturbation, loadBefore }: Ran): Measurement {
  const { predictedSeconds, measuredSeconds, band, programs, requests } = agreement;
  const detail = [
    `${programs} programs, ${requests} requests at ${load} of saturation: mean end to end ${seconds(measuredSeconds)} measured, ${seconds(predictedSeconds)} predicted (band ${seconds(band.low)} to ${seconds(band.high)})`,
    `predicted wait ${seconds(agreement.queueSeconds)} a program, engines busy ${agreement.busyShare.map((share) => share.toFixed(2)).join(" and ")}`,
    `${agreement.failures.length} failed, 5 % began ${Math.round(1000 * agreement.lateSeconds)} ms late or more; load average of the machine before the runs ${loadBefore.toFixed(1)}`,
  ].join("; ");
  if (modelPerturbation === undefined) return { figure: 100 * Math.abs(agreement.ratio - 1), unit: "%", detail };
  const end = measuredSeconds > predictedSeconds ? band.high : band.low;
  return { figure: (measuredSeconds - predictedSeconds) / (end - predictedSeconds), unit: "of the band", detail };
}

const seconds = (value: number): string => `${value.toPrecision(3)} s`;

/** Programs through the real gateway over emulated engines at time scale 1, compared with the simulator's prediction of the same run. */
export const agreementBenchmarks: readonly Benchmark[] = cases.map((one) => ({
  name: `agreement with the gateway: ${one.name}`,
  budget:
    one.modelPerturbation === undefined
      ? atMost(10, "the gateway queues, routes or batches otherwise than the simulator")
      : atMost(1, "engines deviate by more than the band of a plan allows for"),
  run: () => measured(one.name),
}));
