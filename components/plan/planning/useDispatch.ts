"use client";

import { useState } from "react";
import { createStore } from "zustand/vanilla";
import type { PlanningProgress } from "@/server/contracts/studio";
import type { DispatchExploration } from "@/solver/dispatch/dispatchExploration";
import type { Doing } from "./JobProgress";

type Refusal = { readonly kind?: string; readonly message: string };

/** Slack dispatch on this workload and cluster, simulated over tau. */
export interface DispatchTables {
  /** null while it is simulated, and where it cannot be. */
  readonly exploration: DispatchExploration | null;
  /** What its confidences lack. */
  readonly missing: readonly ("no-predictor" | "no-texts")[];
  /** What planning had to ignore, in sentences. */
  readonly notes: readonly string[];
  /** Why there is none; null where there is, or while it is simulated. */
  readonly refusal: Refusal | null;
  readonly error: { readonly message: string } | null;
  readonly job: Doing;
}

/** Nothing is simulated until the planner can. */
export function useDispatch(_situation: object, _wanted: boolean): DispatchTables {
  const [nothing] = useState(
    (): DispatchTables => ({
      exploration: null,
      missing: [],
      notes: [],
      refusal: null,
      error: null,
      job: {
        working: null,
        progress: createStore<PlanningProgress | null>(() => null),
        cancelled: false,
        cancel: () => undefined,
        ask: () => undefined,
      },
    }),
  );
  return nothing;
}
