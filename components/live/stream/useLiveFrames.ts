"use client";

import { useEffect } from "react";
import type { FrameState } from "./frameStore";
import type { Live } from "./live";
import { useBeat } from "./useBeat";

/** Selects from the live frames, updated at the page's beat. */
export function useLiveFrames<Value>({ store, beat }: Live, read: (state: FrameState) => Value): Value {
  const [value, ask] = useBeat(beat, () => read(store.getState()));
  useEffect(() => store.subscribe(ask), [store, ask]);
  return value;
}
