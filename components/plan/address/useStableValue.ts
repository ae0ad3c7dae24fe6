"use client";

import { useMemo } from "react";

/** A value that keeps its identity while it is equal, so that other changes of the address do not change the query. */
export function useStableValue<Value extends object | null>(value: Value): Value {
  const text = JSON.stringify(value);
  return useMemo((): Value => JSON.parse(text), [text]);
}
