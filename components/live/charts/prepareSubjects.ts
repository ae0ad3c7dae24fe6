import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { modelsOf } from "@/solver/plan/policySchema";

/** Models with a place on the page: the plan's by stage, then all others that were served while the frames were taken. */
export function servedModels(frames: readonly LiveFrame[], plan: Plan | null): readonly string[] {
  const models = new Set(plan === null ? [] : modelsOf(plan.policy));
  for (const frame of frames.toReversed()) for (const engine of frame.engines) models.add(engine.model);
  return [...models];
}

interface EngineSubject {
  readonly id: string;
  /** null: an engine that is gone, of which only its figures are kept. */
  readonly model: string | null;
}

export interface GpuSubject {
  /** As its series are kept: `gpu:<node>/<index>`, with the part's number where it is divided. */
  readonly subject: string;
  readonly node: string;
  readonly name: string;
  readonly memoryTotalBytes: number | null;
  /** Of the engine that holds it. */
  readonly model: string | null;
}

/** What there are charts of. */
export interface Subjects {
  readonly models: readonly string[];
  readonly engines: readonly EngineSubject[];
  readonly gpus: readonly GpuSubject[];
}

const named = (kept: readonly string[], kind: string): readonly string[] =>
  kept.filter((subject) => subject.startsWith(`${kind}:`)).map((subject) => subject.slice(kind.length + 1));

/**
 * What there are charts of: what the newest frame names, then what is gone by now but was there in the time shown. GPUs stay as they are
 * for as long as a cluster does.
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

/** What can be chosen of a scope; a cluster is whole. */
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
