"use client";

import { useQuery } from "@tanstack/react-query";
import type { Plan } from "@/solver/plan/plan";
import { useTRPC } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { ClusterLink } from "../shell/ClusterLink";
import { type AskedGate, gateOf, gateWarning } from "./prepareGateWarning";

/** A warning where a plan uses a judge whose hand labels do not show that it suits the plan's floor; otherwise nothing. */
export function GateWarning({ plan }: { readonly plan: Plan }) {
  const list = useQuery(useTRPC().workloads.list.queryOptions()).data;
  const workload = list?.find(({ id }) => id === plan.inputs.workload.id);
  const asked = workload === undefined ? null : gateOf(plan, workload);
  return asked !== null && <Warned asked={asked} />;
}

function Warned({ asked }: { readonly asked: AskedGate }) {
  const { jobId, floor } = asked;
  const { data, error } = useQuery(useTRPC().labels.trust.queryOptions({ jobId, floor }, { select: unwrapOutcome, staleTime: 0 }));
  const unknown = error === null ? null : `The trust in "${asked.gate.name}", the gate's judge, is unknown: ${error.message}`;
  const warning = data === undefined ? unknown : gateWarning(asked, data.trust);
  return (
    warning !== null && (
      <p role="status" data-testid="gate-warning" className="max-w-prose rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn">
        {warning}{" "}
        <ClusterLink to={`/workloads/profiles/${jobId}?floor=${floor}`} className="underline underline-offset-2">
          Its profile and hand labels
        </ClusterLink>
      </p>
    )
  );
}
