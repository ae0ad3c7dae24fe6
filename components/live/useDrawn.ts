"use client";

import { useEffect } from "react";
import type { FrameState } from "./frameStore";
import { useBeat } from "./useBeat";
import type { Live } from "./useLiveFrames";

/** What is read of the live frames, renewed at the page's beat. */
export function useDrawn<Value>({ store, turns }: Live, read: (state: FrameState) => Value): Value {
  const [value, ask] = useBeat(turns, () => read(store.getState()));
  useEffect(() => store.subscribe(ask), [store, ask]);
  return value;
}
