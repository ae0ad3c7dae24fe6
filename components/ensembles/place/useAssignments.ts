"use client";

import { useSessionState } from "@/components/ui/useSessionState";
import type { EnsemblesView } from "../address/ensemblesCodec";
import type { SentAssignments } from "./AssignmentsField";

export interface Assigned {
  /** The file that the address names, if this tab uploaded it. */
  readonly sent: SentAssignments | null;
  /** The file that the address names and this tab did not upload; null: none. */
  readonly gone: string | null;
  readonly onSent: (sent: SentAssignments | null) => void;
}

/**
 * Assignments of questions from a file: the address names it, but only the browser tab that uploaded it has its state, so other tabs must
 * upload it again.
 */
export function useAssignments(named: string | null, write: (change: Partial<EnsemblesView>, how: "replace") => void): Assigned {
  const [kept, keep] = useSessionState<SentAssignments>("weir.assignments");
  const sent = named !== null && kept?.name === named ? kept : null;
  return {
    sent,
    gone: sent === null ? named : null,
    onSent(next) {
      keep(next);
      write({ assigned: next?.name ?? null, questions: null }, "replace");
    },
  };
}
