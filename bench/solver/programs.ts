import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { seededRandom } from "@/solver/numeric/random";
import type { OrderDocument, PolicyDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { oraclePredictions } from "@/solver/workflow/oraclePredictions";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { workflows } from "@/solver/workflow/templates";
import type { OutcomeTable } from "@/solver/workload/workload";
import { atLeast, type Benchmark, type Measurement } from "../lib/benchmark";
import { shippedReplica } from "../lib/replica";

const REQUESTS = 100_000;
const PROMPTS = 2000;
const MODELS = ["llama-3.1-8b", "llama-3.1-70b"];
const BATCH = 64;
/** Programs a second: a rate that the engines sustain with some reserve, and more than twice their maximum, so that ten thousand wait. */
const RATES = { light: 4, overload: 40 };

const orders: readonly OrderDocument[] = [{ kind: "fcfs" }, { kind: "stjf", agingThreshold: 10_000 }];

const replicas = MODELS.flatMap((model, size) => {
  const replica = shippedReplica(model, "h100-sxm", size === 0 ? 1 : 4);
  return Array.from({ length: 2 }, (_, at) => ({ id: `${model} ${at}`, model, replica, maxInFlight: BATCH }));
});

function policyOf(kind: "slack" | "balanced", order: OrderDocument): PolicyDocument {
  const place = { kind: "least-load" as const };
  if (kind === "balanced") return { kind, order, place, models: MODELS.map((model) => ({ model, maxBatchSize: BATCH })) };
  return {
    ...{ kind, order, place, tau: 0.5, deltaScore: 0.05, floorSeconds: 2 },
    models: MODELS.map((model, size) => ({ model, maxBatchSize: BATCH, decodeSecondsPerToken: 0.02, confidence: 0.5 + 0.2 * size })),
    approvedRanges: { tau: { min: 0, max: 2 }, deltaScore: { min: 0, max: 1 } },
  };
}

/** Programs of the sources' workflows over drawn answers: medians of 250 tokens in and 150 out. */
function drawn(programsPerSecond: number): ProgramSample {
  const random = seededRandom(1);
  const lengths = (mu: number) => Int32Array.from({ length: PROMPTS }, () => 1 + Math.min(2000, random.lognormal(mu, 0.8)));
  const table: OutcomeTable = {
    promptIds: Array.from({ length: PROMPTS }, (_, at) => `p${at}`),
    categories: Array.from({ length: PROMPTS }, () => "all"),
    inputTokens: lengths(5.5),
    models: MODELS.map((model, size) => {
      const label = Float64Array.from({ length: PROMPTS }, () => (random.next() < 0.5 + 0.2 * size ? 100 : 0));
      return { model, tableName: model, outputTokens: lengths(5), label, judged: label };
    }),
  };
  let now = 0;
  const draw = (programs: number): ProgramSample =>
    drawPrograms({
      ...{ outcomes: table, prompts: Int32Array.from({ length: PROMPTS }, (_, at) => at), correlation: 0.5, seed: 1 },
      mix: workflows.map((workflow) => ({ workflow, share: 1 })),
      arrivalSeconds: Float64Array.from({ length: programs }, () => (now += random.exponential(programsPerSecond))),
    });
  const stages = draw(1000).program.length / 1000;
  now = 0;
  return draw(Math.ceil(REQUESTS / stages));
}

function simulated(load: keyof typeof RATES): Measurement {
  const sample = drawn(RATES[load]);
  const predictions = oraclePredictions(sample);
  const requests = sample.program.length;
  const measured = (["slack", "balanced"] as const).flatMap((kind) =>
    orders.map((order) => {
      const from = performance.now();
      const { waitSeconds, horizonSeconds } = simulatePrograms({
        policy: buildPolicy(policyOf(kind, order)),
        sample,
        replicas,
        predictions,
      });
      const perSecond = requests / ((performance.now() - from) / 1000);
      const waiting = waitSeconds.reduce((sum, seconds) => sum + seconds, 0) / horizonSeconds;
      return { name: `${kind} with ${order.kind}`, perSecond, waiting };
    }),
  );
  const slowest = measured.reduce((worst, one) => (one.perSecond < worst.perSecond ? one : worst));
  const each = measured.map(
    ({ name, perSecond, waiting }) => `${name} ${Math.round(perSecond).toLocaleString("en")}, ${Math.round(waiting)} waiting`,
  );
  return {
    figure: slowest.perSecond,
    unit: "requests/s",
    detail: `${requests.toLocaleString("en")} requests of ${sample.arrivalSeconds.length.toLocaleString("en")} programs, ${RATES[load]} programs a second, 2 models on 2 engines each, the slowest of: ${each.join("; ")} in the mean`,
  };
}

export const programBenchmarks: readonly Benchmark[] = [
  {
    name: "programs simulated",
    budget: atLeast(20_000, "an event of a program costs more than 50 us, as with a list that is searched"),
    run: () => simulated("light"),
  },
  {
    name: "programs simulated, overload",
    budget: atLeast(20_000, "a decision costs time in proportion to the thousands that wait"),
    run: () => simulated("overload"),
  },
];
