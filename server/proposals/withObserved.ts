import { promptsReaching } from "@/solver/cascade/routing/routing";
import { type SimpleGateDocument, simpleGatesOf } from "@/solver/gates/gateDocument";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { Plan } from "@/solver/plan/plan";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { stageGate } from "@/solver/stageGates/stageGate";
import type { GateColumn } from "@/solver/workload/gateColumns";
import type { ObservedRequest } from "@/solver/workload/similarRows";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";
import { plannedGates } from "./gateScores";
import { routedByPlan } from "./plannedTraffic";

type Planned = Pick<Plan, "policy" | "inputs">;
type Visit = ObservedRequest["visits"][number];

const valuesOf = (requests: readonly ObservedRequest[], model: string, of: (visit: Visit) => number | null): readonly number[] =>
  requests.flatMap(({ visits }) => {
    const visit = visits.find((one) => one.model === model);
    return visit === undefined ? [] : (of(visit) ?? []);
  });

/** Rows of the outcomes that the plan sends to a stage, of those it was planned on. */
function rowsReaching(plan: Planned, workload: Workload, stage: number): readonly number[] {
  const { planning, routed } = routedByPlan(plan, workload);
  return Array.from(promptsReaching(routed, stage), (prompt) => planning[prompt] ?? 0);
}

const withColumn = (workload: Workload, model: string, change: Partial<ModelOutcomes>): Workload => ({
  ...workload,
  outcomes: {
    ...workload.outcomes,
    models: workload.outcomes.models.map((column) => (column.model === model ? { ...column, ...change } : column)),
  },
});

/**
 * The workload with scores of the plan's gates as observed, and everything else as planned. Only answers of requests that reach a model are
 * scored, so the observed distribution replaces its raw scores on the planning prompts that the plan sends there, and of a gate that is asked
 * for doubtful answers alone on those. Stage by stage, since the scores of one decide which prompts reach the next.
 *
 * @returns null if no model has enough observed scores.
 */
export function withObservedScores(plan: Planned, workload: Workload, requests: readonly ObservedRequest[]): Workload | null {
  let made: Workload | null = null;
  const gates = plannedGates(plan);
  const { models } = routedByPlan(plan, workload);
  for (const [stage, model] of models.slice(0, -1).entries()) {
    const document = gates.get(model)?.document ?? { kind: "judge" };
    for (const column of new Set(simpleGatesOf(document).map(columnOf))) {
      const current: Workload = made ?? workload;
      const own = current.outcomes.models.find((one) => one.model === model)?.[column];
      if (own === undefined) continue;
      const gate = stageGate(current, model, document);
      const isAsked = (row: number): boolean => column !== "judged" || isRefused(gate) || gate.judged?.[row] === 1;
      const rows = rowsReaching(plan, current, stage).filter(isAsked);
      const seen = valuesOf(requests, model, (visit) => visit[column] ?? null);
      const values = matchDistribution(own, rows, { seen, seed: mixSeed(workload.seed, model) });
      if (values !== null) made = withColumn(current, model, { [column]: values });
    }
  }
  return made;
}

/** The column of a workload that a gate reads; a scorer of a table's columns reads the confidence. */
function columnOf(gate: SimpleGateDocument): GateColumn | "judged" {
  if (gate.kind === "judge") return "judged";
  return gate.kind === "scorer" && gate.words === undefined ? "confidence" : gate.kind;
}

/**
 * The workload with lengths as observed, and everything else as planned, including scores: prompts keep their ranks and the stages that
 * they reach. Answers of a model take the observed distribution on the prompts that the plan sends there.
 *
 * @returns null if there are not enough observed lengths.
 */
export function withObservedLengths(plan: Planned, workload: Workload, requests: readonly ObservedRequest[]): Workload | null {
  const { models, planning } = routedByPlan(plan, workload);
  const seen = requests.flatMap(({ inputTokens }) => inputTokens ?? []);
  const lengths = matchDistribution(workload.outcomes.inputTokens, [...planning], { seen, seed: mixSeed(workload.seed, "input tokens") });
  let made: Workload | null = lengths === null ? null : { ...workload, outcomes: { ...workload.outcomes, inputTokens: tokensOf(lengths) } };
  for (const [stage, model] of models.entries()) {
    const column = workload.outcomes.models.find((own) => own.model === model)?.outputTokens ?? new Int32Array();
    const outputs = valuesOf(requests, model, ({ outputTokens }) => outputTokens);
    const own = matchDistribution(column, rowsReaching(plan, workload, stage), { seen: outputs, seed: mixSeed(workload.seed, model) });
    if (own !== null) made = withColumn(made ?? workload, model, { outputTokens: tokensOf(own) });
  }
  return made;
}

const tokensOf = (lengths: Float64Array): Int32Array => Int32Array.from(lengths, (tokens) => Math.max(1, Math.round(tokens)));

/** Fewer values are no distribution. */
const LEAST_VALUES = 50;

/**
 * A column whose values on some rows take the observed distribution, each row at its previous rank; the other rows follow the same curve.
 * Ties are broken at random, so that the observed values keep their spread.
 *
 * @returns null for fewer than 50 observed values, or no row.
 */
function matchDistribution(
  column: ArrayLike<number>,
  rows: readonly number[],
  { seen, seed }: { readonly seen: readonly number[]; readonly seed: number },
): Float64Array | null {
  if (seen.length < LEAST_VALUES || rows.length === 0) return null;
  const random = seededRandom(seed);
  const sortedSeen = Float64Array.from(seen).sort();
  const order = rows
    .map((row) => ({ row, value: column[row] ?? 0, chance: random.next() }))
    .sort((a, b) => a.value - b.value || a.chance - b.chance);
  const at = (share: number): number => sortedSeen[Math.min(sortedSeen.length - 1, Math.floor(share * sortedSeen.length))] ?? 0;
  const values = order.map(({ value }) => value);
  const made = Float64Array.from(column, (value) => at((below(values, value) + below(values, value, true)) / (2 * values.length)));
  for (const [rank, { row }] of order.entries()) made[row] = at((rank + 0.5) / order.length);
  return made;
}

/** How many of the ascending values are below one, or not above it. */
function below(sorted: readonly number[], value: number, orEqual = false): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const one = sorted[middle] ?? 0;
    if (one < value || (orEqual && one === value)) from = middle + 1;
    else to = middle;
  }
  return from;
}
