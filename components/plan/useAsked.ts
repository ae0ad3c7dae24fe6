"use client";

import { useMemo } from "react";
import type { ConstraintsView } from "./constraintsCodec";

/** What is asked beside the objective. It keeps its identity while it says the same, whatever else of the address changes. */
export function useAsked({ constraints, judge, routerAuc }: ConstraintsView): ConstraintsView {
  const key = JSON.stringify({ constraints, judge, routerAuc } satisfies ConstraintsView);
  return useMemo((): ConstraintsView => JSON.parse(key), [key]);
}
