import type { Decision, GateRecord } from "@/server/contracts/gateway/gatewayAdmin";
import type { MirrorSample } from "@/server/contracts/gateway/gatewayControls";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { calibratedScore } from "@/solver/gates/gates";
import { mixSeed, type Random, seededRandom } from "@/solver/numeric/random";
import type { Plan } from "@/solver/plan/plan";
import { gatesOf, modelsOf, thresholdsOf } from "@/solver/plan/policySchema";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { stageGate } from "@/solver/stageGates/stageGate";
import { drawSample } from "@/solver/workload/sample";
import { splitPrompts } from "@/solver/workload/split";
import type { ModelOutcomes, Workload } from "@/solver/workload/workload";

export interface TestTraffic {
  readonly rate: number;
  /** Prompts so many times as long as the workload's. */
  readonly longer?: number;
  /** Judged scores so many points lower than the workload's. */
  readonly lower?: number;
  /** Share of the requests whose prompts are ones that the first model answers wrongly. */
  readonly harder?: number;
  /** Share of the further answers of a gate for which no engine is free. */
  readonly busy?: number;
}

export interface TestGateway {
  readonly plan: Plan;
  readonly workload: Workload;
  /** Engine seconds in a wall second. */
  readonly timeScale: number;
  readonly startMs: number;
}

const LATENCY_SECONDS = 2;

/** What a gateway writes down while fresh prompts of a workload come under a plan, from so many engine seconds after its start on. */
export function testDecisions(
  { plan, workload, timeScale, startMs }: TestGateway,
  span: { readonly fromSeconds: number; readonly seconds: number },
  { rate, longer = 1, lower = 0, harder = 0, busy = 0 }: TestTraffic,
): Decision[] {
  const { outcomes } = workload;
  const { models, columns, scorers } = stagesOf(plan, workload, lower);
  const thresholds = thresholdsOf(plan.policy);
  const requests = Math.round(rate * span.seconds);
  const sample = drawSample(workload, { part: "heldOut", requestsPerSecond: rate, requests, seed: span.fromSeconds });
  const random = seededRandom(mixSeed(span.fromSeconds, "test decisions"));
  return Array.from(harderPrompts(sample.prompt, { workload, share: harder, random }), (row, at): Decision => {
    const inputTokens = Math.round((outcomes.inputTokens[row] ?? 0) * longer);
    const visits: Decision["stages"] = [];
    for (const [stage, column] of columns.entries()) {
      const threshold = thresholds[stage] ?? null;
      const scored = threshold === null ? null : (scorers[stage]?.(row, { threshold, random, busy }) ?? null);
      const judgedScore = scored?.score ?? null;
      const accepted = threshold === null || (judgedScore ?? 0) >= threshold;
      visits.push({
        ...{ model: models[stage] ?? "", replica: "r", queueSeconds: 0, seconds: 1, judgeSeconds: 0.2, reason: "" },
        ...{ judgedScore, threshold, verdict: accepted ? "accepted" : "escalated", inputTokens },
        ...(scored?.gate && { gate: scored.gate }),
        outputTokens: column?.outputTokens[row] ?? 0,
      });
      if (accepted) break;
    }
    return {
      ...{ sequence: at + 1, id: `${span.fromSeconds}-${at}`, planId: plan.id, policyHash: plan.policyHash, status: 200, reason: "" },
      ...{ ttftSeconds: 0.1, endToEndSeconds: LATENCY_SECONDS, overheadSeconds: 0, stages: visits },
      finishedAtMs: startMs + ((span.fromSeconds + (sample.arrivalSeconds[at] ?? 0) + LATENCY_SECONDS) / timeScale) * 1000,
    };
  });
}

/** What the mirror keeps of a share of such requests: the scores of all models. */
export function testMirrored(
  { plan, workload, timeScale, startMs }: TestGateway,
  span: { readonly fromSeconds: number; readonly seconds: number },
  { rate, share, lower = {} }: { readonly rate: number; readonly share: number; readonly lower?: Readonly<Record<string, number>> },
): MirrorSample[] {
  const requests = Math.round(rate * share * span.seconds);
  const { models, columns } = stagesOf(plan, workload, 0);
  const documents = gatesOf(plan.policy);
  const gates = models.map((model, stage) => {
    const own = stageGate(workload, model, documents[stage] ?? { kind: "judge" });
    if (isRefused(own)) throw new Error(own.kind);
    return own;
  });
  const sample = drawSample(workload, { part: "heldOut", requestsPerSecond: rate * share, requests, seed: span.fromSeconds + 1 });
  return Array.from(sample.prompt, (row, at): MirrorSample => {
    const { planId, policyHash } = { planId: plan.id, policyHash: plan.policyHash };
    const atMs = startMs + ((span.fromSeconds + (sample.arrivalSeconds[at] ?? 0)) / timeScale) * 1000;
    const answers = models.map((model, stage) => {
      const own = gates[stage];
      const score = Math.max(0, (own?.scores[row] ?? 0) - (lower[model] ?? 0));
      const inputTokens = workload.outcomes.inputTokens[row] ?? 0;
      return {
        model,
        inputTokens,
        outputTokens: columns[stage]?.outputTokens[row] ?? 0,
        score,
        gate: { kind: own?.document.kind ?? "judge", raw: [score] },
      };
    });
    return { sequence: at + 1, decisionId: `${span.fromSeconds}-${at}`, planId, policyHash, atMs, answers };
  });
}

type Scorer = (
  row: number,
  given: { readonly threshold: number; readonly random: Random; readonly busy: number },
) => { readonly score: number | null; readonly gate?: GateRecord };

function stagesOf({ policy }: Plan, workload: Workload, lower: number) {
  const models = modelsOf(policy);
  const columns = models.map((name) => workload.outcomes.models.find(({ model }) => model === name));
  const named = policy.kind === "cascade" ? policy.gates : undefined;
  const scorers = columns.map((column, stage): Scorer => {
    const document = named?.[stage];
    if (document === undefined || column === undefined) return (row) => ({ score: Math.max(0, (column?.judged[row] ?? 0) - lower) });
    return gateScorer(workload, column, document);
  });
  return { models, columns, scorers };
}

/** Scores as the gateway gives them: agreement is compared only until the verdict is sure. */
function gateScorer(workload: Workload, column: ModelOutcomes, document: GateDocument): Scorer {
  const gate = stageGate(workload, column.model, document);
  if (isRefused(gate)) throw new Error(gate.kind);
  if (document.kind !== "agreement")
    return (row) => ({ score: gate.scores[row] ?? 0, gate: { kind: document.kind, seconds: 0, raw: rawOf(gate.document, column, row) } });
  const wanted = document.samples?.count ?? document.peers?.length ?? 0;
  const scoreOf = (agreeing: number, of: number): number =>
    Math.round(100 * calibratedScore((100 * agreeing) / of, document.calibration)) / 100;
  return (row, { threshold, random, busy }) => {
    const drawn = Array.from({ length: wanted }, (_, at) => at < Math.round(((column.agreement?.[row] ?? 0) / 100) * wanted));
    const answers = busy === 0 ? drawn : drawn.filter(() => random.next() >= busy);
    const asked = answers.length;
    let [agreeing, read] = [0, 0];
    while (answers.length > 0) {
      agreeing += answers.splice(random.int(answers.length), 1)[0] === true ? 1 : 0;
      read += 1;
      const open = asked - read;
      if (scoreOf(agreeing, asked) >= threshold === scoreOf(agreeing + open, asked) >= threshold) break;
    }
    const calls = Array.from({ length: wanted }, (_, at) => {
      const outcome = at < read ? ("answered" as const) : at < asked ? ("cancelled" as const) : ("no-free-engine" as const);
      return { model: column.model, outcome, inputTokens: 1, outputTokens: 1 };
    });
    if (asked === 0) return { score: null, gate: { kind: "agreement", seconds: 0, raw: [null], calls } };
    return { score: scoreOf(agreeing, read), gate: { kind: "agreement", seconds: 0, raw: [(100 * agreeing) / read], calls } };
  };
}

function rawOf(document: GateDocument, { judged, confidence }: ModelOutcomes, row: number): (number | null)[] {
  if (document.kind === "confidence") return [confidence?.[row] ?? null];
  return document.kind === "judge" ? [judged[row] ?? null] : [];
}

function harderPrompts(
  prompts: Int32Array,
  { workload, share, random }: { readonly workload: Workload; readonly share: number; readonly random: Random },
): Int32Array {
  if (share === 0) return prompts;
  const { outcomes, seed } = workload;
  const hard = splitPrompts(outcomes.promptIds.length, seed).heldOut.filter((row) => (outcomes.models[0]?.label[row] ?? 100) < 50);
  return prompts.map((row) => (random.next() < share ? (hard[random.int(hard.length)] ?? row) : row));
}
