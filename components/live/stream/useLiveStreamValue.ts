"use client";

import { useEffect } from "react";
import type { Live } from "./live";
import type { StreamState } from "./streamStore";
import { useBeat } from "./useBeat";

/** Selects from the stream's columns and decisions, updated at the page's beat. */
export function useLiveStreamValue<Value>({ stream, beat }: Live, read: (state: StreamState) => Value): Value {
  const [value, ask] = useBeat(beat, () => read(stream.getState()));
  useEffect(() => stream.subscribe(ask), [stream, ask]);
  return value;
}
