"use client";

import { useSubscription } from "@trpc/tanstack-react-query";
import { useState } from "react";
import type { CheckEvent } from "@/server/contracts/studio";
import type { ServingPrediction } from "@/solver/calibration/predictServing";
import type { GroupErrors } from "@/solver/calibration/servingErrors";
import type { UnsupportedRow } from "@/solver/calibration/servingRow";
import type { RowProblem } from "@/solver/workload/rowProblems";
import { useTRPC } from "../api/trpc";

/** What is known of an uploaded table so far. */
export interface Check {
  readonly name: string;
  readonly rows: number;
  readonly unsupported: readonly UnsupportedRow[];
  readonly bad: readonly RowProblem[];
  readonly predictions: readonly ServingPrediction[];
  /** null until all rows are predicted. */
  readonly errors: readonly GroupErrors[] | null;
  readonly refusal: string | null;
}

const nothing: Check = { name: "", rows: 0, unsupported: [], bad: [], predictions: [], errors: null, refusal: null };

/** Adds an event to the known state; the table itself resets it, as after a lost connection. */
export function withEvent(check: Check, event: CheckEvent): Check {
  switch (event.kind) {
    case "table":
      return { ...nothing, name: event.name, rows: event.rows, unsupported: event.unsupported, bad: event.bad };
    case "predicted":
      return {
        ...check,
        predictions: [...check.predictions, ...event.predictions],
        unsupported: [...check.unsupported, ...event.unsupported],
      };
    case "checked":
      return { ...check, errors: event.errors };
    case "refused":
      return { ...nothing, refusal: event.message };
  }
}

/** Compares predictions of a profile with an uploaded table; the caller mounts it per table and profile (with `key`). */
export function useCheck(uploadId: string, profileId: string): { readonly check: Check; readonly error: string | null } {
  const trpc = useTRPC();
  const [check, setCheck] = useState(nothing);
  const { error } = useSubscription(
    trpc.calibrations.check.subscriptionOptions(
      { uploadId, profileId },
      // A finished check is not requested again when its stream ends.
      { enabled: check.errors === null && check.refusal === null, onData: (event) => setCheck((known) => withEvent(known, event)) },
    ),
  );
  return { check, error: error?.message ?? null };
}
