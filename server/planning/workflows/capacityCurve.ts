import type { Outcome } from "@/server/contracts/studio";
import type { CapacityCurve } from "@/server/contracts/studio/declaredWorkflows";
import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { cellFigures } from "@/solver/lab/cellFigures";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { type JustInTimePolicy, roundChoices } from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { oracleConfigurations } from "@/solver/workflow/configurationOutcomes";
import { addConfiguration, countOf, emptySet, hasConfiguration } from "@/solver/workflow/configurationSet";
import { type ConfigurationSpace, configurationSpace } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import { type EnginesOfPlan, justInTimeRouting, type PlannedModel, plannedModels } from "./justInTimeRouting";

/** The input of a capacity curve. */
export interface CapacityTask {
  readonly plan: EnginesOfPlan;
  readonly workload: Workload;
  readonly workflow: WorkflowDocument;
}

/** No publication states the correlation of a program's stages, nor how often a wrong answer misleads: the middle of the range. */
const CORRELATION = 0.5;
const MISLEADS = 0.5;

/** Requests per slot of the engines, so that they are full for most of the run, and bounds that keep it to seconds. */
const TURNS = 4;
const PROGRAMS = { least: 300, most: 1500 } as const;

/**
 * Sets of accepted configurations, from all to the largest models only: the accepted share of the accurate configurations, and of the
 * others. They correspond to a predictor's recall and its share of false acceptances.
 */
const SETS = [
  ...[1, 0.3, 0.1].map((inaccurate) => ({ accurate: 1, inaccurate })),
  ...[1, 0.3, 0.1, 0.03, 0].map((accurate) => ({ accurate, inaccurate: 0 })),
] as const;

/**
 * Accuracy against capacity, as more or fewer of a workflow's configurations count as accurate: programs and outcomes are modelled, and
 * capacity is simulated with more programs than the engines can take.
 *
 * @returns a sentence with the reason if there is none.
 */
export function capacityCurve({ plan, workload, workflow }: CapacityTask): Outcome<{ readonly curve: CapacityCurve }> {
  const planned = plannedModels(plan, workload, [workflow]);
  if (!planned.ok) return planned;
  const routed = justInTimeRouting(plan, workload, { workflows: [{ workflow }], selection: roundChoices.beam });
  if (!routed.ok) return routed;
  // All requests are calls of the workflow.
  const { singles: _, learnt: __, ...policy } = routed.policy;
  const { models, times } = leastAlike(planned.models);
  const replicas = replicasOf(models, policy);
  const space = configurationSpace(
    workflow,
    policy.models.map(({ model }) => model),
  );
  const sample = saturatingPrograms({ plan, workload, workflow }, policy, replicas);
  const oracle = oracleConfigurations(sample, new Map([[workflow.name, space]]));
  const points = SETS.flatMap((set) => {
    const admitted = admittedBy(oracle, space, { ...set, seed: mixSeed(workload.seed, "admitted") });
    const outcome = simulatePrograms({ policy: buildPolicy(policy), sample, replicas, predictions: { configurations: admitted } });
    const figures = cellFigures(outcome, sample, 0);
    if (figures === null || figures.quality === null) return [];
    const programs = Array.from(sample.arrivalSeconds.keys());
    const share = programs.reduce((sum, program) => sum + countOf(admitted(program)) / space.size, 0) / programs.length;
    return [{ admitted: share, programsPerSecond: times * figures.programsPerSecond, quality: figures.quality }];
  });
  const largest = points.at(-1);
  if (points.length < SETS.length || largest === undefined)
    return { ok: false, message: `Nothing is known of quality in ${workload.name}, or its requests fit none of these engines.` };
  const { programsPerSecond, quality } = largest;
  return { ok: true, curve: { points, largest: { programsPerSecond, quality }, notes: notesOn(sample, policy, times) } };
}

/** The fewest engines in the same proportions, and the ratio to the original number: their throughput is lower by that ratio. */
function leastAlike(models: readonly PlannedModel[]): { readonly models: readonly PlannedModel[]; readonly times: number } {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  const times = models.flatMap(({ replica }) => replica.map(({ count }) => count)).reduce(divisor, 0);
  const fewer = models.map((model) => ({ ...model, replica: model.replica.map((shape) => ({ ...shape, count: shape.count / times })) }));
  return { models: fewer, times };
}

/** The engines one by one, each with the request limit of its model. */
function replicasOf(models: readonly PlannedModel[], policy: JustInTimePolicy): readonly ClusterReplica[] {
  return models.flatMap(({ model, replica: shapes }) => {
    const maxInFlight = policy.models.find((own) => own.model === model)?.saturationBatch ?? 1;
    const all = shapes.flatMap(({ replica, count }) => Array.from({ length: count }, () => replica));
    return all.map((replica, index): ClusterReplica => ({ id: `${model} ${index + 1}`, model, replica, maxInFlight }));
  });
}

/** Programs of the planning prompts that all arrive at once. */
function saturatingPrograms(
  { workload: { outcomes, seed }, workflow }: CapacityTask,
  { models }: JustInTimePolicy,
  replicas: readonly ClusterReplica[],
): ProgramSample {
  const held = replicas.reduce((sum, { maxInFlight }) => sum + maxInFlight, 0);
  const programs = Math.min(PROGRAMS.most, Math.max(PROGRAMS.least, Math.ceil((TURNS * held) / workflow.agents.length)));
  const table: OutcomeTable = {
    ...outcomes,
    models: models.flatMap(({ model }) => outcomes.models.find((own) => own.model === model) ?? []),
  };
  return drawPrograms({
    outcomes: table,
    prompts: splitPrompts(outcomes.promptIds.length, seed).planning,
    mix: [{ workflow: workflowOfDocument(workflow), share: 1 }],
    ...{ correlation: CORRELATION, misleads: MISLEADS },
    // A moment apart, so that they have an order.
    arrivalSeconds: Float64Array.from({ length: programs }, (_, program) => program * 1e-6),
    seed: mixSeed(seed, "capacity"),
  });
}

/**
 * Sets of a share of the accurate configurations and a share of the others, and always the largest models throughout. Each configuration of
 * each program has its own random number, drawn once, so that sets of smaller shares are subsets of larger ones.
 */
function admittedBy(
  oracle: (program: number) => Uint32Array | undefined,
  { size }: ConfigurationSpace,
  shares: { readonly accurate: number; readonly inaccurate: number; readonly seed: number },
): (program: number) => Uint32Array {
  const known = new Map<number, Uint32Array>();
  return (program) => {
    const before = known.get(program);
    if (before !== undefined) return before;
    const random = seededRandom(mixSeed(shares.seed, `program ${program}`));
    const accurate = oracle(program);
    const set = emptySet(size);
    for (let configuration = 0; configuration < size; configuration += 1) {
      const isAccurate = accurate !== undefined && hasConfiguration(accurate, configuration);
      if (random.next() < (isAccurate ? shares.accurate : shares.inaccurate)) addConfiguration(set, configuration);
    }
    addConfiguration(set, size - 1);
    known.set(program, set);
    return set;
  };
}

function notesOn({ arrivalSeconds }: ProgramSample, { models }: JustInTimePolicy, times: number): readonly string[] {
  return [
    `Modelled: ${arrivalSeconds.length.toLocaleString("en")} programs of the workload's planning prompts, stages correlated by ${CORRELATION}, and a wrong answer misleads with chance ${MISLEADS}.`,
    "Beyond the accurate configurations a growing share of the others counts as accurate too; below them only a share of the accurate ones does, both drawn by lot for each program. The largest models throughout always do.",
    `Capacity is simulated with all programs there at once, on engines of ${models.map(({ model }) => model).join(", ")} that hold what their throughput saturates at, by rounds with a beam of width ${roundChoices.beam.width}${times === 1 ? "" : `; simulated on one in ${times} of them, and the figures are ${times} times what these finish`}.`,
  ];
}
