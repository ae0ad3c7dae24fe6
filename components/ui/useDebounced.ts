"use client";

import { useEffect, useState } from "react";

/** The value once it has not changed for `delayMs`. Compared by identity: pass memoised objects. */
export function useDebounced<Value>(value: Value, delayMs: number): Value {
  const [still, setStill] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setStill(value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return still;
}
