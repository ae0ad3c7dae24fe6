import type { ProbeTarget } from "../engineClient/checkEndpoint";
import { type EndpointProbe, type ProbeOptions, probeEndpoint } from "./probeEndpoint";

export interface ProbesOptions extends ProbeOptions {
  /** Called for each as soon as it is known. */
  readonly onProbe?: (probe: EndpointProbe) => void;
}

/** Most concurrent probes: more than a user pastes manually, and few enough that a slow network does not make engines look slow. */
const atOnce = 32;

/** Probes several, each with its own time limit, so that a hanging one delays only itself. In the given order. */
export async function probeEndpoints(
  targets: readonly ProbeTarget[],
  { onProbe, ...options }: ProbesOptions,
): Promise<readonly EndpointProbe[]> {
  const probes: EndpointProbe[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < targets.length; at = next++) {
      const target = targets[at];
      if (target === undefined) return;
      const probe = await probeEndpoint(target, options);
      probes[at] = probe;
      onProbe?.(probe);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, targets.length) }, lane));
  return probes;
}
