"use client";

import { memo, useState } from "react";
import type { Plan } from "@/solver/plan/plan";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { useGatewayAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { shortHash } from "../ui/format";
import { Knob } from "../ui/Knob";
import { ReasonField } from "../ui/ReasonField";
import { ControlSection } from "./ControlSection";
import { type KnobDraft, type KnobTurn, knobTurn, type LiveKnob, plannedDraft, prepareKnobs } from "./prepareKnobs";

const NONE: KnobDraft = {};

/** Why there are no knobs. */
const knobless: Readonly<Record<PolicyDocument["kind"], string>> = {
  cascade: "Every request goes to one model: there are no controls.",
  fixed: "Every request goes to one model: there are no controls.",
  slack: "Its controls are fixed.",
  balanced: "Requests go to the least loaded model: there are no controls.",
  "just-in-time": "Models are chosen just in time, in rounds: there are no controls.",
};

function note({ current, planned, min, max }: LiveKnob): string {
  return `in force ${current}${planned === null ? "" : `, planned ${planned}`}, approved from ${min} to ${max}`;
}

/** The policy's knobs, which can be changed inside the ranges that were approved with the plan. */
export const KnobSection = memo(function KnobSection(props: {
  readonly clusterId: string;
  readonly etag: string;
  readonly policy: PolicyDocument;
  readonly policyHash: string;
  readonly plan: Plan | null;
  /** Plan of the canary that runs; null: none. */
  readonly canaryOf: string | null;
  readonly applying: boolean;
}) {
  const client = useTRPCClient();
  const { clusterId, etag, policy, policyHash, plan, canaryOf, applying } = props;
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  // A draft belongs to the policy under which it was made: another policy starts from its own values.
  const [kept, setKept] = useState<{ readonly etag: string; readonly draft: KnobDraft }>({ etag, draft: NONE });
  const draft = kept.etag === etag ? kept.draft : NONE;
  const knobs = prepareKnobs(policy, plan?.policy ?? null, draft);
  const turn = knobTurn(policy, knobs);
  const act = useGatewayAct(
    (order: KnobTurn) => client.gateway.setControls.mutate({ clusterId, etag, reason, ...order }),
    () => setReason(""),
  );
  const move = (change: KnobDraft) => setKept({ etag, draft: { ...draft, ...change } });
  if (knobs.length === 0) {
    return <ControlSection testId="knobs" title="Controls" wide={false} error={null} says={knobless[policy.kind]} />;
  }
  return (
    <ControlSection
      testId="knobs"
      title="Controls"
      wide={open}
      error={act.error}
      says={knobs.map(({ key, label, current, planned }) => (
        <span key={key}>
          {label} <strong className="font-medium text-ink">{current}</strong>
          {planned !== null && planned !== current && <span className="text-ink-3"> (planned {planned})</span>}
        </span>
      ))}
      action={
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Close controls" : "Set controls"}
        </Button>
      }
    >
      {open && (
        <form
          noValidate
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (turn !== null && !act.isPending) act.mutate(turn);
          }}
        >
          <div className="grid gap-x-8 gap-y-4 md:grid-cols-2">
            {knobs.map((knob) => (
              <Knob
                key={knob.key}
                label={knob.label}
                unit=""
                min={knob.min}
                max={knob.max}
                step={knob.step}
                value={knob.value}
                note={note(knob)}
                onDraft={(value) => move({ [knob.key]: value })}
                onCommit={(value) => move({ [knob.key]: value })}
                onReset={knob.value === knob.current ? null : () => move({ [knob.key]: knob.current })}
              />
            ))}
          </div>
          {canaryOf !== null && (
            <p className="text-sm text-warn">
              A change ends the canary of {shortHash(canaryOf)}: it was started next to the current policy.
            </p>
          )}
          <div className="flex flex-wrap items-end gap-2">
            <ReasonField className="min-w-48 flex-1" label="Reason for the change (optional)" value={reason} onChange={setReason} />
            <Button onClick={() => move(plannedDraft(knobs))}>Reset to plan</Button>
            <Button type="submit" look="primary" disabled={turn === null || applying}>
              Apply controls
            </Button>
          </div>
        </form>
      )}
      {act.data?.policyHash === policyHash && (
        <p role="status" className="text-sm text-ink-2">
          Changed: the policy is now <code className="font-mono text-ink">{shortHash(policyHash)}</code>.
        </p>
      )}
    </ControlSection>
  );
});
