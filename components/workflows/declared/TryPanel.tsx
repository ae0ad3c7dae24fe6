"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import { ClusterLink } from "@/components/shell/ClusterLink";
import { StateWord } from "@/components/ui/Badge";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { AreaField } from "@/components/ui/Field";
import { ModelName } from "@/components/ui/ModelChip";
import { Panel } from "@/components/ui/Panel";
import { PermittedButton } from "@/components/ui/PermittedButton";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { usePlan } from "../graph/usePlan";
import { prepareRun, type RunPicture } from "./prepareRun";

function Outcome({ picture, programId }: { readonly picture: RunPicture; readonly programId: string }) {
  const identities = useModelIdentities([...new Set(picture.stages.map(({ model }) => model))]);
  return (
    <div className="flex flex-col gap-3 border-t pt-3" data-testid="run">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <StateWord tone={picture.tone}>{picture.word}</StateWord>
        <span className="text-ink-2">{picture.says}</span>
        <ClusterLink to={`/workflows?tab=just-in-time&program=${encodeURIComponent(programId)}`}>Its configurations</ClusterLink>
      </p>
      <ol aria-label="Agents as they ended" className="flex list-none flex-col gap-2">
        {picture.stages.map(({ agent, model, tokens, seconds, output }) => (
          <li key={agent} className="rounded-md border p-2 text-sm">
            <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <span className="font-medium">{agent}</span>
              <ModelName model={model} identities={identities} />
              <span className="text-xs text-ink-3">
                {seconds}, {tokens}
              </span>
            </p>
            <p className="mt-1 max-h-24 overflow-y-auto text-xs whitespace-pre-wrap text-ink-2 [overflow-wrap:anywhere]">{output}</p>
          </li>
        ))}
      </ol>
      {picture.missing.length > 0 && <p className="text-sm text-ink-3">Without an answer: {picture.missing.join(", ")}.</p>}
    </div>
  );
}

/** Makes the gateway run the workflow once, and shows each agent's model, tokens and time. */
export function TryPanel(props: {
  readonly clusterId: string;
  readonly runningPlanId: string | null;
  readonly document: WorkflowDocument;
}) {
  const { clusterId, runningPlanId, document } = props;
  const client = useTRPCClient();
  const [input, setInput] = useState("");
  const policy = usePlan(runningPlanId).data?.plan.policy;
  const inForce = policy?.kind === "just-in-time" ? policy.workflows.map(({ workflow }) => workflow.name) : [];
  const run = useMutation({
    mutationFn: async (text: string) =>
      unwrapOutcome(await client.workflows.tryRun.mutate({ clusterId, workflow: document.name, input: text })).run,
  });
  const agents = document.agents.map(({ name }) => name);
  return (
    <Panel title="Try it">
      {!inForce.includes(document.name) ? (
        <p className="text-sm text-ink-3">
          The gateway runs workflows of the plan in force; {document.name} is not among them. Make a plan that runs it just in time, and
          apply it.
        </p>
      ) : (
        <form
          aria-label={`Run ${document.name}`}
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (input.trim() !== "" && !run.isPending) run.mutate(input);
          }}
        >
          <AreaField label="Input of the program" rows={3} maxLength={100_000} value={input} onChange={setInput} />
          <div className="flex flex-wrap items-center gap-3">
            <PermittedButton permission="operate" type="submit" look="primary" disabled={input.trim() === "" || run.isPending}>
              {run.isPending ? "Running …" : "Run it once"}
            </PermittedButton>
            <p role="status" className="text-xs text-ink-3">
              {run.isPending
                ? `${agents.length} agents run, each when its inputs are ready.`
                : "Every agent is a request to this cluster's engines; the run takes at most one minute."}
            </p>
          </div>
          <ErrorLine error={run.error} />
          {run.data !== undefined && <Outcome picture={prepareRun(run.data, agents)} programId={run.data.id} />}
        </form>
      )}
    </Panel>
  );
}
