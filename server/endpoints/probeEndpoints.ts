import type { ProbeTarget } from "../engineClient/checkEndpoint";
import { type EndpointProbe, type ProbeOptions, probeEndpoint } from "./probeEndpoint";

export interface ProbesOptions extends ProbeOptions {
  /** Told of each as soon as it is known. */
  readonly onProbe?: (probe: EndpointProbe) => void;
}

/** Under way at once: more than anybody pastes by hand, few enough that a slow network is not taken for slow engines. */
const atOnce = 32;

/** Probes several, each with a time limit of its own, so that one that hangs delays nothing but itself. In the order given. */
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
