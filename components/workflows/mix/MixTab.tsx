"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { useJob } from "@/components/api/useJob";
import { JobProgress } from "@/components/plan/planning/JobProgress";
import { ClusterLink } from "@/components/shell/ClusterLink";
import { Badge } from "@/components/ui/Badge";
import { Button } from "@/components/ui/Button";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { Panel } from "@/components/ui/Panel";
import { PanelState, type PanelStatus } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { useSessionState } from "@/components/ui/useSessionState";
import type { ClusterSummary, MixEvent, MixRequest } from "@/server/contracts/studio";
import { roundChoices } from "@/solver/plan/policySchema";
import { usePlan } from "../graph/usePlan";
import { MixFields } from "./MixForm";
import { MixResult } from "./MixResult";
import { type MixForm, mixRequest, noEntry } from "./prepareMix";

const firstForm: MixForm = { workloadId: null, singles: { ...noEntry, ticked: true }, workflows: {}, selection: roundChoices.worth };

/** Asked before there is a question: never sent. */
const nothing: MixRequest = { clusterId: "", workloadId: "", singles: null, workflows: [], selection: roundChoices.worth };

/** Plans engines for single requests and declared workflows together, beside the plan in force. */
export function MixTab({ cluster }: { readonly cluster: ClusterSummary }) {
  const clusterId = cluster.spec.id;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const workloads = useQuery(trpc.workloads.list.queryOptions());
  const workflows = useQuery(trpc.declaredWorkflows.list.queryOptions());
  const declared = workflows.data ?? [];
  const [kept, setForm] = useSessionState<MixForm>(`mix of ${clusterId}`);
  const form = kept ?? firstForm;
  const known = workloads.data ?? [];
  const workloadId = known.find(({ id }) => id === form.workloadId)?.id ?? known[0]?.id ?? "";
  const request = mixRequest(form, { clusterId, workloadId, declared });
  const [question, setQuestion] = useState<MixRequest | null>(null);
  const job = useJob<MixRequest, Extract<MixEvent, { kind: "answer" }>>({
    ...{ name: "mix-plan", question: question ?? nothing, enabled: question !== null },
    subscribe: (asked, listener) => client.plans.mix.subscribe(asked, listener),
  });
  const inForce = usePlan(cluster.runningPlanId).data?.plan ?? null;
  const answer = job.current ? job.answer?.answer : undefined;
  const isEarlier = question !== null && JSON.stringify(question) !== JSON.stringify(request);
  return (
    <Panel title="Plan for a mix" aside={<Badge tone="hatched">modelled</Badge>}>
      <PanelState
        status={queryStatus(workloads, {
          what: "Reading workloads",
          empty: workloads.data?.length === 0 && {
            kind: "empty",
            title: "There is no workload",
            text: "A plan is made from prompts and the models' answers to them: import a workload first.",
          },
        })}
      >
        {() => (
          <div className="flex flex-col gap-4">
            <p className="max-w-prose text-sm text-ink-3">
              Engines, a cascade for single requests and configurations of workflows from one optimisation, for all rates and floors
              together.
            </p>
            <MixFields
              {...{ form, declared, workloadId }}
              workloads={known.map(({ id, name, version }) => ({ value: id, text: `${name} v${version}` }))}
              onChange={setForm}
            />
            <ErrorLine error={workflows.error} />
            {workflows.data?.length === 0 && (
              <p className="text-sm text-ink-3">
                No workflow is declared yet.{" "}
                <ClusterLink to="/workflows?tab=declared" className="text-accent underline underline-offset-2">
                  Declare one
                </ClusterLink>{" "}
                to plan for it beside single requests.
              </p>
            )}
            <div className="flex flex-wrap items-center gap-3">
              <Button
                look="primary"
                disabled={request === null || job.working !== null}
                onClick={() => {
                  if (request !== null && JSON.stringify(request) === JSON.stringify(question)) job.ask();
                  else setQuestion(request);
                }}
              >
                Plan engines
              </Button>
              {request === null && <p className="text-sm text-ink-3">Tick at least one class of traffic.</p>}
              <JobProgress job={job} again="Plan again" />
            </div>
            {question !== null && job.working === null && !job.cancelled && (
              <PanelState status={statusOf(job, { isEarlier })}>
                {() => answer?.ok === true && <MixResult plan={answer.plan} beside={answer.beside} inForce={inForce} />}
              </PanelState>
            )}
          </div>
        )}
      </PanelState>
    </Panel>
  );
}

type MixJob = ReturnType<typeof useJob<MixRequest, Extract<MixEvent, { kind: "answer" }>>>;

/** A refusal is an answer: a retry would give the same. */
function statusOf({ answer, current, error, ask }: MixJob, { isEarlier }: { readonly isEarlier: boolean }): PanelStatus {
  if (error !== null) return { kind: "error", message: error.message, retry: ask };
  if (!current || answer === undefined) return { kind: "loading", what: "Planning" };
  if (!answer.answer.ok) return { kind: "error", message: answer.answer.message, retry: null };
  return isEarlier ? { kind: "stale", note: "planned for other rates or floors than those above." } : { kind: "ready" };
}
