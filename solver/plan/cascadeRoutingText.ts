import type { CascadePolicy } from "./plan";

/** Cascade routing in a line: the models, in the order in which they may answer, and what a gain must be worth. */
export function cascadeRoutingText({ stages, cascadeRouting }: Pick<CascadePolicy, "stages" | "cascadeRouting">): string {
  const models = stages.map(({ model }) => model).join(", ");
  return cascadeRouting === undefined
    ? models
    : `${models}: next the largest expected gain, ${cascadeRouting.pointsPerGpuSecond.toPrecision(3)} points for a GPU-second`;
}

/** How cascade routing decides, in plain words; null for a cascade by thresholds. */
export function cascadeRoutingSays({ stages, cascadeRouting, directStart }: CascadePolicy): string | null {
  if (cascadeRouting === undefined) return null;
  const { pointsPerGpuSecond, gates } = cascadeRouting;
  const scored = stages.filter((_, stage) => gates[stage] != null).map(({ model }) => model);
  const router = directStart?.router.kind === "modelled" ? "A modelled router, an upper bound," : "A trained router";
  const after =
    scored.length === 0
      ? "Its answer is accepted."
      : `Answers of ${scored.join(" and ")} are scored where a score could change anything, and a larger model follows only where it is expected to gain enough for its time.`;
  return `${router} says how likely each model is to be right, and the model with the best trade-off answers: ${pointsPerGpuSecond.toPrecision(3)} points of quality for a GPU-second. It may pass models over. ${after} Requests that the router does not score start at ${stages[0]?.model} and follow the thresholds.`;
}
