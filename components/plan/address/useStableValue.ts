"use client";

import { useMemo } from "react";

/** A value that keeps its identity while it says the same: whatever else of the address changes makes no other question of it. */
export function useStableValue<Value extends object | null>(value: Value): Value {
  const text = JSON.stringify(value);
  return useMemo((): Value => JSON.parse(text), [text]);
}
