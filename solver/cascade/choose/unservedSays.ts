import type { NoPlanKind } from "@/solver/plan/plan";
import { counted, rateText } from "@/solver/wording/wording";
import type { Exploration, Knobs } from "../explore/exploration";

/** Why no allocation serves a routing, in a clause that follows its name: too few GPUs for its replicas, or too much load. */
export function unservedSays(routing: number, exploration: Exploration, knobs: Pick<Knobs, "maxGpus">): string {
  const { needed, gpus } = roomOf(routing, exploration, knobs);
  if (needed > gpus) return `needs ${counted(needed, "GPU")} for one replica of each of its models, of ${gpus} there are`;
  return `is overloaded at ${rateText(exploration.requestsPerSecond)} on ${counted(gpus, "GPU")}`;
}

/** The same for a routing set by hand, in sentences that say what to change. */
export function unservedByHand(
  routing: number,
  exploration: Exploration,
  knobs: Pick<Knobs, "maxGpus">,
): { readonly kind: Extract<NoPlanKind, "overloaded" | "no-room">; readonly reason: string } {
  const { stages = [], thresholds = [] } = exploration.routings[routing] ?? {};
  const name = stages.map((model) => exploration.models[model] ?? "").join(" > ");
  const says = `${name} ${unservedSays(routing, exploration, knobs)}`;
  const { needed, gpus } = roomOf(routing, exploration, knobs);
  if (needed > gpus) return { kind: "no-room", reason: `${says}. Allow more GPUs or leave a model out.` };
  const reason =
    thresholds.length === 0
      ? `${says}. Allow more GPUs, lower the rate, or choose another cascade.`
      : `${says} at these thresholds. Allow more GPUs, lower the rate, or change the thresholds.`;
  return { kind: "overloaded", reason };
}

function roomOf(routing: number, { routings, leastGpus, maxGpus }: Exploration, knobs: Pick<Knobs, "maxGpus">) {
  const needed = (routings[routing]?.stages ?? []).reduce((sum, model) => sum + (leastGpus[model] ?? 0), 0);
  return { needed, gpus: Math.min(knobs.maxGpus, maxGpus) };
}
