"use client";

import { useSessionState } from "@/components/ui/useSessionState";
import type { EnsemblesView } from "../address/ensemblesCodec";
import type { SentAssignments } from "./AssignmentsField";

export interface Assigned {
  /** The file that the address names, where this tab sent it. */
  readonly sent: SentAssignments | null;
  /** The file that the address names and this tab never sent; null: there is none such. */
  readonly gone: string | null;
  readonly onSent: (sent: SentAssignments | null) => void;
}

/** Who answers what by a file: the address names it, but the browser's tab alone knows what became of it, so that elsewhere it must be sent again. */
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
