"use client";

import { useEffect } from "react";
import type { Live } from "./live";
import type { StreamState } from "./streamStore";
import { useBeat } from "./useBeat";

/** What is read of the stream's columns and decisions, renewed at the page's beat. */
export function useLiveStreamValue<Value>({ stream, beat }: Live, read: (state: StreamState) => Value): Value {
  const [value, ask] = useBeat(beat, () => read(stream.getState()));
  useEffect(() => stream.subscribe(ask), [stream, ask]);
  return value;
}
