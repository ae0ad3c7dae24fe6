import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";

/** Models on the page: the plan's by stage, then all others that were served while the frames were recorded. */
export function servedModels(frames: readonly LiveFrame[], plan: Plan | null): readonly string[] {
  const models = new Set(plan === null ? [] : modelsOf(plan.policy));
  for (const frame of frames.toReversed()) for (const engine of frame.engines) models.add(engine.model);
  return [...models];
}

interface EngineSubject {
  readonly id: string;
  /** null: an engine that is gone and has only stored figures. */
  readonly model: string | null;
}

export interface GpuSubject {
  /** The name of its series: `gpu:<node>/<index>`, with the part's number where it is divided. */
  readonly subject: string;
  readonly node: string;
  readonly name: string;
  readonly memoryTotalBytes: number | null;
  /** Of the engine that holds it. */
  readonly model: string | null;
}

/** The subjects that have charts. */
export interface Subjects {
  readonly models: readonly string[];
  readonly engines: readonly EngineSubject[];
  readonly gpus: readonly GpuSubject[];
}

const named = (kept: readonly string[], kind: string): readonly string[] =>
  kept.filter((subject) => subject.startsWith(`${kind}:`)).map((subject) => subject.slice(kind.length + 1));

/**
 * The subjects that have charts: those of the newest frame, then those that are gone but existed in the displayed range. GPUs stay
 * as long as the cluster does.
 */
export function prepareSubjects(frame: LiveFrame | undefined, plan: Plan | null, kept: readonly string[]): Subjects {
  const frames = frame === undefined ? [] : [frame];
  const present = frame?.engines.map(({ id, model }): EngineSubject => ({ id, model })) ?? [];
  const gone = named(kept, "engine")
    .filter((id) => present.every((engine) => engine.id !== id))
    .map((id): EngineSubject => ({ id, model: null }));
  const modelOf = new Map(present.map(({ id, model }) => [id, model]));
  const gpus = (frame?.gpus ?? []).map(({ node, index, instance, memoryTotalBytes, engineId }): GpuSubject => {
    const part = instance === null ? "" : `/${instance.id}`;
    const name = instance === null ? `GPU ${index}` : `GPU ${index}, ${instance.profile} (${instance.id})`;
    return {
      subject: `gpu:${node}/${index}${part}`,
      node,
      name,
      memoryTotalBytes,
      model: engineId === null ? null : (modelOf.get(engineId) ?? null),
    };
  });
  return { models: [...new Set([...servedModels(frames, plan), ...named(kept, "stage")])], engines: [...present, ...gone], gpus };
}

/** The choices of a scope; a cluster has none. */
export function choicesOf(subjects: Subjects, scope: "cluster" | "model" | "engine" | "gpu"): readonly string[] {
  switch (scope) {
    case "cluster":
      return [];
    case "model":
      return subjects.models;
    case "engine":
      return subjects.engines.map(({ id }) => id);
    case "gpu":
      return [...new Set(subjects.gpus.map(({ node }) => node))].sort();
  }
}
