"use client";

import { useEffect } from "react";
import type { FrameState } from "./frameStore";
import type { Live } from "./useLiveFrames";
import { useTurn } from "./useTurn";

/** What is read of the live frames, renewed when it is this piece's turn. */
export function useDrawn<Value>({ store, turns }: Live, read: (state: FrameState) => Value): Value {
  const [value, ask] = useTurn(turns, () => read(store.getState()));
  useEffect(() => store.subscribe(ask), [store, ask]);
  return value;
}
