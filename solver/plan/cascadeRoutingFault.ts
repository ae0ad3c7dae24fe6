import type { CascadeRoutingDocument } from "@/solver/nextModel/cascadeRoutingDocument";

interface RoutedStages {
  readonly stages: readonly { readonly model: string }[];
  readonly thresholds: readonly number[];
  readonly directStart?: object | undefined;
  readonly cascadeRouting?: CascadeRoutingDocument | undefined;
}

/** Why cascade routing does not fit a cascade, in one sentence with the offending value; null where it does, or there is none. */
export function cascadeRoutingFault({ stages, thresholds, directStart, cascadeRouting }: RoutedStages): string | null {
  if (cascadeRouting === undefined) return null;
  const { gpuSeconds, gates } = cascadeRouting;
  if (directStart === undefined)
    return "Cascade routing chooses by a router's score of every model before any has answered: name the router as the direct start.";
  if (gpuSeconds.length !== stages.length) return `Cascade routing is fitted to ${gpuSeconds.length} stages, and the cascade has ${stages.length}.`;
  for (const [stage, gate] of gates.entries()) {
    const threshold = thresholds[stage] ?? 0;
    if (gate !== null && threshold === 0)
      return `Cascade routing reads the scores of stage ${stage + 1}, whose threshold of 0 lets its answers go unscored.`;
    if (gate === null && threshold > 0)
      return `Cascade routing reads no scores of stage ${stage + 1}, whose threshold of ${threshold} needs one.`;
  }
  return null;
}
