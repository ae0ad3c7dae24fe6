import type { StartBelow } from "@/solver/plan/directStart";

/** A cascade with its thresholds, in the form of addresses and pins. */
export interface RoutingChoice {
  readonly models: readonly string[];
  /** One fewer than models. */
  readonly thresholds: readonly number[];
  /** Router scores from which a request starts at a stage; left out: all start at the first. */
  readonly startBelow?: StartBelow;
}

/**
 * @example formatRouting({ models: ["llama-3.1-8b", "llama-3.1-70b"], thresholds: [84] }) === "llama-3.1-8b@84~llama-3.1-70b"
 * @example formatRouting({ models: ["a", "b", "c"], thresholds: [84, 60], startBelow: [40, 70] }) === "a@84~b@60~c^40.70"
 */
export function formatRouting(routing: RoutingChoice): string {
  const stages = routing.models.map((model, index) =>
    index < routing.thresholds.length ? `${model}@${routing.thresholds[index]}` : model,
  );
  return stages.join("~") + (routing.startBelow === undefined ? "" : `^${[routing.startBelow].flat().join(".")}`);
}

/** The cascade of a key; null when the key is invalid (a threshold missing, outside 0..100, or not whole). */
export function parseRouting(key: string): RoutingChoice | null {
  const models: string[] = [];
  const thresholds: number[] = [];
  const [cascade = "", start, ...more] = key.split("^");
  const starts = start?.split(".");
  if (more.length > 0 || starts?.every(isScore) === false) return null;
  const parts = cascade.split("~");
  for (const [index, part] of parts.entries()) {
    const [model, text, ...rest] = part.split("@");
    const last = index === parts.length - 1;
    if (model === undefined || model === "" || rest.length > 0 || (text === undefined) !== last) return null;
    models.push(model);
    if (text === undefined) continue;
    if (!isScore(text)) return null;
    thresholds.push(Number(text));
  }
  const [first, ...others] = starts?.map(Number) ?? [];
  if (first === undefined) return { models, thresholds };
  return { models, thresholds, startBelow: others.length === 0 ? first : [first, ...others] };
}

const isScore = (text: string): boolean => /^\d{1,3}$/.test(text) && Number(text) <= 100;

/** A cascade pinned for comparison; `gpus` null: on the number of GPUs that the objective gives it. */
export interface PinnedPlan {
  readonly routing: RoutingChoice;
  readonly gpus: number | null;
}

/**
 * @example formatPin({ routing: { models: ["llama-3.1-8b", "llama-3.1-70b"], thresholds: [84] }, gpus: 24 }) === "llama-3.1-8b@84~llama-3.1-70b*24"
 */
export const formatPin = ({ routing, gpus }: PinnedPlan): string => formatRouting(routing) + (gpus === null ? "" : `*${gpus}`);

/** The pinned plan of a key; null when the key is invalid. */
export function parsePin(key: string): PinnedPlan | null {
  const [text = "", gpus, ...rest] = key.split("*");
  const routing = parseRouting(text);
  if (routing === null || rest.length > 0 || (gpus !== undefined && !/^[1-9]\d{0,5}$/.test(gpus))) return null;
  return { routing, gpus: gpus === undefined ? null : Number(gpus) };
}
