"use client";

import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { usePlanAct } from "@/components/api/acts";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { useClusterLink } from "@/components/shell/useCurrentCluster";
import { Check } from "@/components/ui/Check";
import { SelectField, TextField } from "@/components/ui/Field";
import { FormModal } from "@/components/ui/FormModal";
import type { DeclaredWorkflow, PlanSummary } from "@/server/contracts/studio";
import { type RoundChoice, roundChoices } from "@/solver/plan/policySchema";
import { usePlan } from "../graph/usePlan";
import { prepareAnswerScores } from "./prepareAnswerScores";
import { chosenText, planOptions, predictorOptions } from "./prepareDeclaredList";
import { singlesSays } from "./prepareRoundChoice";
import { RoundChoiceFields } from "./RoundChoiceFields";

/** Makes a plan that runs declared workflows just in time on the engines of another plan. It is approved and applied like any plan. */
export function PlanDialog(props: {
  readonly open: boolean;
  readonly plans: readonly PlanSummary[];
  /** The plan that is selected by default. */
  readonly planId: string;
  readonly workflows: readonly DeclaredWorkflow[];
  /** The workflow that is selected when it opens. */
  readonly first: string;
  readonly onClose: () => void;
}) {
  const { open, plans, workflows, first, onClose } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const [picked, setPicked] = useState<string | null>(null);
  const [ticked, setTicked] = useState<readonly string[]>([first]);
  const [predictors, setPredictors] = useState<Readonly<Record<string, string>>>({});
  const [selection, setSelection] = useState<RoundChoice>(roundChoices.beam);
  const [asksScores, setAsksScores] = useState(false);
  const [name, setName] = useState("");
  const planId = picked ?? props.planId;
  const plan = plans.find(({ id }) => id === planId);
  const policy = usePlan(open ? planId : null).data?.plan.policy ?? null;
  const make = usePlanAct(client.plans.justInTime.mutate, ({ id }) => router.push(link(`/apply/${id}`)));
  const chosen = workflows
    .filter(({ document }) => ticked.includes(document.name))
    .map(({ document, predictors: own }) => ({
      name: document.name,
      predictor: (predictors[document.name] ?? own[0]?.hash ?? "") || null,
    }));
  const scores = prepareAnswerScores(
    useQuery(
      trpc.plans.answerScores.queryOptions(
        { planId, workflows: chosen },
        { enabled: open && chosen.length > 0, staleTime: Number.POSITIVE_INFINITY, retry: false },
      ),
    ),
  );
  const answerScores = asksScores && scores.canScore;
  const suggested = `${first} just in time, ${plan?.name ?? ""}`.slice(0, 80);
  return (
    <FormModal
      open={open}
      onClose={onClose}
      title="Run just in time"
      description="Makes a plan on the engines of another plan: an agent's model is chosen when an engine has a free slot. No engine is started or stopped."
      label="Plan that runs workflows just in time"
      noValidate
      act={make}
      ready={chosen.length > 0}
      onSubmit={() => make.mutate({ planId, name: name.trim() || suggested, workflows: chosen, selection, answerScores })}
      go={make.isPending ? "Saving …" : "Make the plan and review it"}
    >
      <SelectField label="On the engines of" value={planId} options={planOptions(plans)} onChange={setPicked} />
      <fieldset className="flex flex-col gap-2">
        <legend className="text-xs text-ink-3">Workflows and the predictors of their accurate configurations</legend>
        {workflows.map((declared) => {
          const { name: workflow } = declared.document;
          const isTicked = ticked.includes(workflow);
          return (
            <div key={workflow} className="flex flex-wrap items-end gap-x-4 gap-y-1">
              <Check
                checked={isTicked}
                onChange={(on) => setTicked(on ? [...ticked, workflow] : ticked.filter((each) => each !== workflow))}
              >
                {workflow}
              </Check>
              {isTicked && (
                <SelectField
                  className="min-w-56 flex-1"
                  label={`Predictor of ${workflow}`}
                  value={predictors[workflow] ?? declared.predictors[0]?.hash ?? ""}
                  options={predictorOptions(declared)}
                  onChange={(hash) => setPredictors({ ...predictors, [workflow]: hash })}
                />
              )}
            </div>
          );
        })}
      </fieldset>
      <p role="status" className="text-xs text-ink-3">
        {chosenText(chosen)} {singlesSays(policy)}
      </p>
      <RoundChoiceFields choice={selection} onChange={setSelection} />
      {chosen.length > 0 && (
        <div>
          <Check checked={answerScores} disabled={!scores.canScore} onChange={setAsksScores}>
            Scores of agents' answers change which configurations count as accurate
          </Check>
          <p role="status" className="text-xs text-ink-3">
            {scores.says}
          </p>
        </div>
      )}
      <TextField label="Name of the plan" value={name} maxLength={80} placeholder={suggested} onChange={setName} />
    </FormModal>
  );
}
