import type { ServedRequests } from "@/solver/engine/throughputCurve";
import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import { requestsOn } from "@/solver/lab/engineFigures";
import { mixSeed } from "@/solver/numeric/random";
import { noConstraints } from "@/solver/plan/constraints";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import type { ProgramSample } from "@/solver/workflow/programSample";
import type { Workflow } from "@/solver/workflow/workflow";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import type { OutcomeTable } from "@/solver/workload/workload";
import { type CascadeRoute, cascadeCandidates } from "./cascadeCandidates";
import { cheapestOf, modelPrices } from "./modelPrices";
import { modelWork } from "./modelWork";
import type { MixClass, MixModel, MixProblem } from "./problem";
import { accurateCandidates, configurationCandidates, type WorkflowRoute } from "./workflowCandidates";

/** Single requests of a mix. */
interface SinglesTraffic {
  readonly requestsPerSecond: number;
  /** Least quality, 0..100: of the lower 90 % bound on planning prompts. */
  readonly floor: number;
  /** Seconds of a call of the judge that scores answers. */
  readonly judgeSeconds: number;
}

/** Programs of one workflow of a mix. */
interface WorkflowTraffic {
  readonly workflow: WorkflowDocument;
  readonly programsPerSecond: number;
  readonly floor: number;
  /** Whether each program's accurate configurations are predicted; else all programs have one configuration. */
  readonly predicted: boolean;
}

/** What a mix is planned from. */
export interface MixTraffic {
  /** Models smallest first; each has a shape at least. */
  readonly outcomes: OutcomeTable;
  /** Rows of the table that may be planned with. */
  readonly planning: Int32Array;
  readonly seed: number;
  /** null: only workflows. */
  readonly singles: SinglesTraffic | null;
  readonly workflows: readonly WorkflowTraffic[];
  /** By model of the table, its shapes, that with the fewest GPUs first. */
  readonly shapes: readonly (readonly ShapedReplica[])[];
}

export type { CascadeRoute } from "./cascadeCandidates";

/** How a class may be served. */
type MixRoute = CascadeRoute | WorkflowRoute;

/** Classes and models of a mix in the form of `MixProblem`, and the route behind each candidate. */
export interface MixGround {
  readonly classes: readonly MixClass[];
  readonly models: readonly MixModel[];
  /** By class, then by candidate. */
  readonly routes: readonly (readonly MixRoute[])[];
  /** By model, requests as long as those of the mix. */
  readonly requests: readonly ServedRequests[];
}

/** The class of single requests. */
export const SINGLES = "single requests";

/**
 * No publication states the correlation of a program's stages, nor how often a wrong answer misleads: the middle of the range, as for
 * capacity curves.
 */
export const CORRELATION = 0.5;
export const MISLEADS = 0.5;

/** Programs that lengths of the mix are read off, and that configurations of one workflow are compared on. */
const PROGRAMS = { mix: 1500, workflow: 1200 } as const;

/** A single request as a program: one call of its own prompt and answer. */
const single: Workflow = {
  ...{ name: SINGLES, title: SINGLES, source: "The workload's own prompts and answers." },
  stages: [{ role: "model", part: "solves", reads: [], instructionTokens: 0, lengthRatio: 1, lengthSpread: 0 }],
};

/** Planning programs of a mix, in the shares of its rates. @param arrivalSeconds one for each program. */
export function mixPrograms(
  { outcomes, planning, singles, workflows, seed }: Omit<MixTraffic, "shapes">,
  arrivalSeconds: Float64Array,
): ProgramSample {
  const mix = [
    ...(singles === null ? [] : [{ workflow: single, share: singles.requestsPerSecond }]),
    ...workflows.map(({ workflow, programsPerSecond }) => ({ workflow: workflowOfDocument(workflow), share: programsPerSecond })),
  ];
  return drawPrograms({
    ...{ outcomes, prompts: planning, mix, correlation: CORRELATION, misleads: MISLEADS, arrivalSeconds },
    seed: mixSeed(seed, "mix"),
  });
}

/**
 * Candidates of every class from the planning prompts alone, and the work that the models' replicas do for requests as long as the mix's.
 *
 * @throws RangeError when a workflow has no configurations over the models, or a replica has room for no request.
 */
export function mixGround(traffic: MixTraffic): MixGround {
  const { outcomes, planning, seed, singles, workflows, shapes } = traffic;
  const sample = mixPrograms(traffic, new Float64Array(PROGRAMS.mix));
  const requests = outcomes.models.map((_, model) => ({ ...requestsOn(sample, model), seed }));
  const works = shapes.map((own, model) => modelWork(own, requests[model] ?? { inputTokens: [], outputTokens: [], seed }));
  const tokens = works.map(({ work }) => work);
  const prices = modelPrices(shapes.map(([smallest]) => (smallest?.shape.tp ?? 1) * (smallest?.shape.pp ?? 1)));
  const classes: (MixClass & { readonly routes: readonly MixRoute[] })[] = [];
  if (singles !== null) {
    const { requestsPerSecond, floor, judgeSeconds } = singles;
    const all = cascadeCandidates({ outcomes, planning, tokens, judgeSeconds });
    const best = all.reduce((one, other) => (other.quality > one.quality ? other : one));
    const cheapest = cheapestOf(
      all.filter(({ quality }) => quality >= floor),
      prices,
    );
    const candidates = cheapest.length === 0 ? [best] : cheapest;
    // A policy has one cascade.
    classes.push({ name: SINGLES, requestsPerSecond, floor, divisible: false, candidates, routes: candidates.map(({ route }) => route) });
  }
  const models = outcomes.models.map(({ model }) => model);
  for (const { workflow, programsPerSecond, floor, predicted } of workflows) {
    const space = configurationSpace(workflow, models);
    const programs = drawPrograms({
      ...{ outcomes, prompts: planning, mix: [{ workflow: workflowOfDocument(workflow), share: 1 }] },
      ...{ correlation: CORRELATION, misleads: MISLEADS, arrivalSeconds: new Float64Array(PROGRAMS.workflow) },
      seed: mixSeed(seed, `mix of ${workflow.name}`),
    });
    const ground = { sample: programs, space, tokens, prices, floor };
    const candidates = predicted ? accurateCandidates(ground) : configurationCandidates(ground);
    const routes = candidates.map(({ route }) => route);
    classes.push({ name: workflow.name, requestsPerSecond: programsPerSecond, floor, divisible: predicted, candidates, routes });
  }
  return {
    classes: classes.map(({ routes: _, ...own }) => own),
    models: works.map((own, at) => ({ model: models[at] ?? "", shapes: own.shapes })),
    routes: classes.map(({ routes }) => routes),
    requests,
  };
}

/** Replicas of one shape of a model that are there already. */
interface FixedReplicas extends Pick<ShapedReplica, "gpu" | "shape"> {
  readonly model: string;
  readonly count: number;
}

/**
 * The problem of a mix on engines that are fixed: every replica is a node of its own kind, so that no other replica has room there.
 *
 * @param replicas of the ground's own shapes.
 */
export function fixedProblem({ classes, models }: MixGround, replicas: readonly FixedReplicas[], loadFactor: number): MixProblem {
  const typeOf = (model: string, gpu: string, { tp, pp }: { readonly tp: number; readonly pp: number }): string =>
    `${model}/${gpu}/${tp}x${pp}`;
  const kept = models.map(({ model, shapes }) => ({
    model,
    shapes: shapes
      .filter(({ gpu, shape }) => replicas.some((own) => own.model === model && own.gpu === gpu && own.shape === shape))
      .map((own) => ({ ...own, gpu: typeOf(model, own.gpu, own.shape) })),
  }));
  const nodes = replicas.flatMap(({ model, gpu, shape, count }) =>
    Array.from({ length: count }, (_, at) => ({
      name: `${typeOf(model, gpu, shape)} ${at}`,
      gpu: typeOf(model, gpu, shape),
      gpus: shape.tp * shape.pp,
    })),
  );
  return {
    ...{ classes, models: kept, nodes, loadFactor, running: [], constraints: noConstraints, slack: 0, enough: 1 },
    usdPerGpuHour: Object.fromEntries(nodes.map(({ gpu }) => [gpu, 0])),
  };
}
