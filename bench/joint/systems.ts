import { perWorkflow } from "@/server/lab/aragogRace";
import { BEAM_WIDTH } from "@/solver/lab/aragogSystems";
import type { LabSystem } from "@/solver/lab/labSpec";
import type { JustInTimePolicy, SinglesPolicy } from "@/solver/plan/policySchema";
import { type JustInTimeParts, selectionOf } from "@/solver/policies/justInTime/justInTimeDocument";
import type { ProgramSample } from "@/solver/workflow/programSample";
import cases from "./cases.json" with { type: "json" };

type Singles = NonNullable<JustInTimePolicy["singles"]>;

export const JOINT = "joint";
/** What teams have without any of the five: one model for all requests, at the engine of least load. */
export const BASELINES = ["largest model"] as const;
/** The joint policy with Kairos' order and place, which trade latencies of parts against each other. */
export const BY_WORKFLOW = "joint by workflow, over time slots";
export const ALONE = ["Cascadia", "Chimera", "Aragog", "Kairos", "MOSAIC"] as const;
export const PAIRS = [
  "Aragog and Cascadia",
  "Aragog and Chimera",
  "Aragog and Kairos",
  "Aragog and MOSAIC",
  "Cascadia and Chimera",
  "Cascadia and Kairos",
  "Cascadia and MOSAIC",
  "Chimera and Kairos",
  "Chimera and MOSAIC",
  "Kairos and MOSAIC",
] as const;
/** What the joint policy is without one of its terms, or with one more, by the system that is that. */
export const VARIANTS = {
  "without worth: throughput instead": "joint without worth",
  "without others' delay": "joint without others' delay",
  "without larger models for single requests": "joint without larger models",
  "without the cascade: one model": "joint without the cascade",
  "without accurate configurations: the largest models": "joint without accurate configurations",
  "without skipped aggregators": "joint without skipped aggregators",
  "with the order of workflows and time slots": BY_WORKFLOW,
  "with the plan's price of tokens": "joint with the plan's price",
} as const;

/** What the systems of a mix are made of. */
export interface Parts {
  /** Declares the workflows, over the race's engines. */
  readonly policy: JustInTimePolicy;
  /** The same, in which scores of agents' answers change which configurations count as accurate. */
  readonly scored: JustInTimePolicy;
  /** The cheapest cascade and the cheapest single model that keep the floor. */
  readonly cascade: Singles;
  readonly model: Singles;
  /** By model, the mean quality of its answers to planning prompts, 0..100. */
  readonly quality: readonly number[];
  /** Of the engines, by a plan. */
  readonly loads: NonNullable<JustInTimeParts["planned"]>;
  /** Programs that one configuration a workflow is chosen on. */
  readonly planned: ProgramSample;
}

export const fcfs = { kind: "fcfs" } as const;
/** Kairos' order and place. */
export const kairos = {
  order: { kind: "workflow", agingThreshold: cases.agingThreshold },
  place: { kind: "time-slots" },
} as const;
const shortestFirst = { kind: "stjf", agingThreshold: cases.agingThreshold } as const;
export const leastLoad = { kind: "least-load" } as const;
const none = { lengths: "none", confidence: "none" } as const;
export const learnt = { lengths: "learnt", confidence: "learnt" } as const;
/** Without MOSAIC's gate the aggregator is always called. */
export const ungated = { gates: "never" } as const;
export const beam = { kind: "beam", width: BEAM_WIDTH } as const;

/** The choice by worth with a weight of others' delay. */
export const worthOf = (delayWeight: number) => ({ kind: "worth", rightSeconds: 0, delayWeight }) as const;

/** Makes a system of a policy whose parts are given; what is not is the mix's policy, first come, first served, at the engine of least load. */
export const systemOver =
  ({ policy }: Parts, configurations: LabSystem["configurations"]) =>
  (name: string, parts: Partial<JustInTimePolicy>, more: Partial<LabSystem> = {}): LabSystem => ({
    ...{ name, ...none },
    ...(parts.selection?.kind === "fixed" ? {} : { configurations }),
    ...more,
    policy: { ...policy, order: fcfs, place: leastLoad, ...parts },
  });

/** All systems on the same engines. Kairos and Aragog send single requests to the cheapest model that keeps the floor: neither says which. */
export function jointSystems(parts: Parts): readonly LabSystem[] {
  const { policy, cascade, model, quality, loads, planned } = parts;
  const slack = slackOf(policy, quality);
  const perWorkflowOnes = { kind: "fixed" as const, configurations: perWorkflow(policy, planned) };
  const rounds = systemOver(parts, "oracle");
  const chimera = { order: shortestFirst, place: leastLoad };
  const worth = worthOf(cases.delayWeight);
  const singles = orLarger(cascade, policy);
  const largest = { kind: "fixed", model: policy.models.at(-1)?.model ?? "" } as const;
  return [
    { name: "largest model", ...none, ...ungated, policy: { ...largest, order: fcfs, place: leastLoad } },
    { name: "Cascadia", ...none, ...ungated, policy: { ...cascade, order: fcfs, place: leastLoad } as SinglesPolicy },
    { name: "Chimera", ...learnt, ...ungated, policy: { ...slack, ...chimera } },
    rounds("Aragog", { selection: beam, singles: model }, ungated),
    rounds("Kairos", { selection: perWorkflowOnes, singles: model, ...kairos }, ungated),
    rounds("MOSAIC", { selection: perWorkflowOnes, singles: model }),
    rounds("Aragog and Cascadia", { selection: beam, singles: cascade }, ungated),
    rounds("Aragog and Chimera", { selection: beam, singles: slack }, { ...learnt, ...ungated }),
    rounds("Aragog and Kairos", { selection: beam, singles: model, ...kairos }, ungated),
    rounds("Aragog and MOSAIC", { selection: beam, singles: model }),
    // Both choose a request's model: the cascade does, and requests go in Chimera's order.
    {
      name: "Cascadia and Chimera",
      ...ungated,
      lengths: "learnt",
      confidence: "none",
      policy: { ...cascade, ...chimera } as SinglesPolicy,
    },
    rounds("Cascadia and Kairos", { selection: perWorkflowOnes, singles: cascade, ...kairos }, ungated),
    rounds("Cascadia and MOSAIC", { selection: perWorkflowOnes, singles: cascade }),
    { name: "Chimera and Kairos", ...learnt, ...ungated, policy: { ...slack, ...kairos } },
    // The ensemble alone is declared, so that its experts are a model each; slack dispatch serves every other call.
    rounds("Chimera and MOSAIC", { selection: perWorkflowOnes, singles: slack, ...chimera, workflows: ensembleOnly(policy) }, learnt),
    rounds("Kairos and MOSAIC", { selection: perWorkflowOnes, singles: model, ...kairos }),
    rounds(JOINT, { selection: worth, singles }),
    rounds("joint without worth", { selection: beam, singles }),
    rounds("joint without others' delay", { selection: worthOf(0), singles }),
    rounds("joint without larger models", { selection: worth, singles: cascade }),
    rounds("joint without the cascade", { selection: worth, singles: model }),
    rounds("joint without accurate configurations", { selection: worth, singles }, { configurations: "none" }),
    rounds("joint without skipped aggregators", { selection: worth, singles }, ungated),
    rounds(BY_WORKFLOW, { selection: worth, singles, ...kairos }),
    rounds("joint with the plan's price", { selection: selectionOf({ ...worth, priced: true }, policy.models, loads), singles }),
  ];
}

const ensembleOnly = ({ workflows }: JustInTimePolicy): JustInTimePolicy["workflows"] =>
  workflows.filter(({ workflow }) => workflow.name === cases.ensemble.workflow);

/**
 * A cascade whose last stage is followed by all larger models at a threshold of 0: no answer is sent on to them, but by worth a request may
 * start there, where the answer is no worse.
 */
export function orLarger(cascade: Singles, { models }: JustInTimePolicy): Singles {
  if (cascade.kind !== "cascade") return cascade;
  const last = models.findIndex(({ model }) => model === cascade.stages.at(-1)?.model);
  const larger = models.slice(last + 1).map(({ model }) => ({ model }));
  return {
    ...cascade,
    stages: [...cascade.stages, ...larger],
    thresholds: [...cascade.thresholds, ...larger.map(() => 0)],
    approvedRanges: { thresholds: [...cascade.approvedRanges.thresholds, ...larger.map(() => ({ min: 0, max: 100 }))] },
  };
}

/** Slack dispatch over the rounds' models, with the source's usual slack. */
function slackOf({ models }: JustInTimePolicy, quality: readonly number[]): Extract<Singles, { kind: "slack" }> {
  return {
    ...{ kind: "slack", tau: 0.5, deltaScore: 0, floorSeconds: 1 },
    models: models.map(({ model, saturationBatch, throughput, meanOutputTokens = 1 }, at) => {
      const saturated = throughput.at(-1)?.tokensPerSecond ?? 1;
      return {
        model,
        decodeSecondsPerToken: saturationBatch / saturated,
        maxBatchSize: saturationBatch,
        confidence: (quality[at] ?? 0) / 100,
        meanOutputTokens,
      };
    }),
    approvedRanges: { tau: { min: 0, max: 8 }, deltaScore: { min: 0, max: 1 } },
  };
}
