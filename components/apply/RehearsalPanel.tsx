"use client";

import { useMutation } from "@tanstack/react-query";
import type { ApplyStep } from "@/server/contracts/studio";
import { useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { StateWord } from "../ui/Badge";
import { ErrorLine } from "../ui/ErrorLine";
import { PermittedButton } from "../ui/PermittedButton";
import { prepareRehearsal } from "./prepareRehearsal";

/** The same steps with every write withheld: how the cluster would answer each. `held`: another roll-out is changing the cluster. */
export function RehearsalPanel(props: {
  readonly planId: string;
  readonly clusterId: string;
  readonly steps: readonly ApplyStep[];
  readonly held: boolean;
}) {
  const { planId, clusterId } = props;
  const client = useTRPCClient();
  const rehearse = useMutation({
    mutationFn: async () => prepareRehearsal(unwrapOutcome(await client.plans.rehearse.mutate({ planId, clusterId })).steps, props.steps),
  });
  const { data } = rehearse;
  return (
    <div className="flex flex-col gap-2" data-testid="rehearsal">
      <div className="flex flex-wrap items-center gap-3">
        <PermittedButton permission="prepare" disabled={props.held} onClick={() => !rehearse.isPending && rehearse.mutate()}>
          {rehearse.isPending ? "Rehearsing …" : "Rehearse"}
        </PermittedButton>
        <span role="status" className={`text-sm ${data !== undefined && data.failing > 0 ? "text-bad" : "text-ink-3"}`}>
          {rehearse.isPending ? "Asking the cluster." : (data?.says ?? "Each step runs on the cluster as a dry run; nothing is written.")}
        </span>
      </div>
      <ErrorLine error={rehearse.error} />
      {data !== undefined && data.steps.length > 0 && (
        <details open={data.failing > 0}>
          <summary className="text-xs text-ink-2">What each step would do</summary>
          <ol className="flex list-none flex-col">
            {data.steps.map((step) => (
              <li key={step.id} className="flex items-baseline gap-3 border-b py-1.5 text-sm last:border-0">
                <span className="w-24 shrink-0">
                  <StateWord tone={step.ok ? "good" : "bad"}>{step.ok ? "would do" : "would fail"}</StateWord>
                </span>
                <span className="min-w-0 [overflow-wrap:anywhere]">
                  {step.name}
                  {step.text !== "" && `: ${step.text}`}
                  {step.says !== "" && <span className={`block text-xs ${step.ok ? "text-ink-3" : "text-bad"}`}>{step.says}</span>}
                </span>
              </li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}
