"use client";

import { memo, useMemo, useState } from "react";
import type { Plan } from "@/solver/plan/plan";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { useGatewayAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { shortHash } from "../ui/format";
import { ReasonField } from "../ui/ReasonField";
import { ControlSection } from "./ControlSection";
import { KnobForm } from "./KnobForm";
import { LastChange } from "./LastChange";
import { type KnobDraft, type KnobTurn, knobTurn, prepareKnobs } from "./prepareKnobs";
import { prepareSlack } from "./prepareSlack";

const NONE: KnobDraft = {};

/** Why there are no knobs. */
const knobless: Readonly<Record<PolicyDocument["kind"], string>> = {
  cascade: "Every request goes to one model: there are no controls.",
  fixed: "Every request goes to one model: there are no controls.",
  slack: "Its controls are fixed.",
  balanced: "Requests go to the least loaded model: there are no controls.",
  "just-in-time": "Models are chosen just in time, in rounds: there are no controls.",
};

/** The policy's knobs, which can be changed inside the ranges that were approved with the plan, and their last change. */
export const KnobSection = memo(function KnobSection(props: {
  readonly clusterId: string;
  readonly etag: string;
  readonly policy: PolicyDocument;
  readonly policyHash: string;
  readonly planId: string;
  readonly plan: Plan | null;
  /** Requests per second for which a new plan is prepared. */
  readonly rate: number;
  /** Plan of the canary that runs; null: none. */
  readonly canaryOf: string | null;
  readonly applying: boolean;
}) {
  const client = useTRPCClient();
  const { clusterId, etag, policy, policyHash, planId, plan, canaryOf, applying } = props;
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  // A draft belongs to the policy under which it was made: another policy starts from its own values.
  const [kept, setKept] = useState<{ readonly etag: string; readonly draft: KnobDraft }>({ etag, draft: NONE });
  const draft = kept.etag === etag ? kept.draft : NONE;
  const knobs = prepareKnobs(policy, plan?.policy ?? null, draft);
  const slack = useMemo(() => prepareSlack(policy, plan, draft), [policy, plan, draft]);
  const act = useGatewayAct(
    (order: KnobTurn) => client.gateway.setControls.mutate({ clusterId, etag, reason, ...order }),
    () => setReason(""),
  );
  if (knobs.length === 0) {
    return <ControlSection testId="knobs" title="Controls" wide={false} error={null} says={knobless[policy.kind]} />;
  }
  return (
    <ControlSection
      testId="knobs"
      title="Controls"
      wide={open}
      error={act.error}
      says={
        <>
          {policy.kind === "just-in-time" && <span>of requests outside workflows:</span>}
          {knobs.map(({ key, label, current, planned }) => (
            <span key={key}>
              {label} <strong className="font-medium text-ink">{current}</strong>
              {planned !== null && planned !== current && <span className="text-ink-3"> (planned {planned})</span>}
            </span>
          ))}
        </>
      }
      action={
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Close controls" : "Set controls"}
        </Button>
      }
    >
      {open && (
        <KnobForm
          {...{ clusterId, policy, policyHash, plan, slack, knobs }}
          turn={knobTurn(policy, knobs)}
          rate={props.rate}
          disabled={applying || act.isPending}
          onMove={(change) => setKept({ etag, draft: { ...draft, ...change } })}
          onApply={act.mutate}
        >
          {canaryOf !== null && (
            <p className="text-sm text-warn">
              A change ends the canary of {shortHash(canaryOf)}: it was started next to the current policy.
            </p>
          )}
          <ReasonField label="Reason for the change (optional)" value={reason} onChange={setReason} />
        </KnobForm>
      )}
      {act.data?.policyHash === policyHash && (
        <p role="status" className="text-sm text-ink-2">
          Changed: the policy is now <code className="font-mono text-ink">{shortHash(policyHash)}</code>.
        </p>
      )}
      <LastChange {...{ clusterId, etag, policyHash, planId, applying }} />
    </ControlSection>
  );
});
