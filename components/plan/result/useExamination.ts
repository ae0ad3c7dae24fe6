"use client";

import { useMemo } from "react";
import { type Inputs, useTRPCClient } from "@/components/api/trpc";
import { useJob } from "@/components/api/useJob";
import type { PanelStatus } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import type { Examination, ExamineEvent } from "@/server/contracts/studio";
import type { Doing } from "../planning/JobProgress";

type Ending = Exclude<ExamineEvent, { kind: "progress" }>;

/** One examination of the plan of a request. `examination` belongs to the current request, or is null. */
export interface Examining<Kind extends Examination["kind"]> extends Doing {
  readonly examination: Extract<Examination, { kind: Kind }> | null;
  readonly status: PanelStatus;
}

/** Runs it once it is `wanted`; each takes as long as several plans, so it runs only on request. */
export function useExamination<Kind extends Examination["kind"]>(
  kind: Kind,
  about: Inputs["plans"]["solve"],
  wanted: boolean,
): Examining<Kind> {
  const client = useTRPCClient();
  const question = useMemo(() => ({ ...about, examine: kind }), [about, kind]);
  const job = useJob<typeof question, Ending>({
    name: "examination",
    question,
    enabled: wanted,
    subscribe: (asked, listener) => client.plans.examine.subscribe(asked, listener),
  });
  const { answer, error, ask } = job;
  const refused = answer?.kind === "refused" ? { message: answer.message } : null;
  const found = job.current && answer?.kind === "answer" ? answer.examination : null;
  return {
    ...job,
    examination: found !== null && isOf(found, kind) ? found : null,
    status: queryStatus({ data: found ?? undefined, error: refused ?? error, refetch: ask }, { what: "Computing the answers" }),
  };
}

function isOf<Kind extends Examination["kind"]>(examination: Examination, kind: Kind): examination is Extract<Examination, { kind: Kind }> {
  return examination.kind === kind;
}
