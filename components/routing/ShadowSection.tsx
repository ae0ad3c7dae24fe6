"use client";

import { memo, useState } from "react";
import type { Shadow } from "@/server/contracts/studio";
import { useGatewayAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { SelectField } from "../ui/Field";
import { ABSENT, formatCount, formatCounted, formatPercent, shortHash } from "../ui/format";
import { ModelChip } from "../ui/ModelChip";
import { PermittedButton } from "../ui/PermittedButton";
import { ReasonField } from "../ui/ReasonField";
import { Table } from "../ui/Table";
import { useFocusHandover } from "../ui/useFocusHandover";
import { useModelIdentities } from "../ui/useModelIdentities";
import { ControlSection } from "./ControlSection";
import { prepareShadow, type ShadowCount } from "./prepareShadow";
import { usePlanChoices } from "./usePlanChoices";

const columns = [
  { key: "model", name: "Answer from" },
  { key: "actual", name: "Actual", numeric: true },
  { key: "candidate", name: "By the candidate", numeric: true },
] as const;

/** How far the candidate's outcomes are known. */
function knownSays(share: number | null): string {
  const unasked = "The candidate causes no extra calls.";
  if (share === null) return unasked;
  if (share === 1) return `${unasked} So far it would have used only existing answers, so every outcome is known.`;
  return `${unasked} For ${formatPercent(1 - share)} of the requests its outcome depends on the score of an answer that was never requested, and is unknown. The known ones are biased towards the policy in force.`;
}

function Counts({ name, counts }: { readonly name: string; readonly counts: readonly ShadowCount[] }) {
  return (
    <div className="min-w-40">
      <dt className="text-xs text-ink-3">{name}</dt>
      {counts.map(({ name: what, count, share }) => (
        <dd key={what} className="flex items-baseline justify-between gap-3 text-sm">
          <span className="text-ink-2">{what}</span>
          <span>
            {formatCount(count)} <span className="text-xs text-ink-3">{formatPercent(share)}</span>
          </span>
        </dd>
      ))}
    </div>
  );
}

function Detail({ shadow }: { readonly shadow: Shadow }) {
  const { starts, verdicts, finals, knownShare } = prepareShadow(shadow);
  const identities = useModelIdentities(finals.flatMap(({ model }) => model ?? []));
  const cell = (count: number | null, share: number | null) => (
    <td className="text-right whitespace-nowrap">
      {count === null ? ABSENT : formatCount(count)} {count !== null && <span className="text-xs text-ink-3">{formatPercent(share)}</span>}
    </td>
  );
  return (
    <div className="flex flex-col gap-3">
      <div className="grid items-start gap-x-10 gap-y-4 lg:grid-cols-[auto_auto_1fr]">
        <dl className="contents">
          <Counts name="First model" counts={starts} />
          <Counts name="Verdict on judged answers" counts={verdicts} />
        </dl>
        <Table caption="Models that answer, actual and by the candidate" columns={columns}>
          {finals.map(({ model, actual, candidate, actualShare, candidateShare }) => {
            const identity = model === null ? undefined : identities.get(model);
            return (
              <tr key={model ?? ""}>
                <td>{identity === undefined ? "not known" : <ModelChip identity={identity} />}</td>
                {cell(actual, actualShare)}
                {cell(candidate, candidateShare)}
              </tr>
            );
          })}
        </Table>
      </div>
      <p className="text-xs text-ink-3">
        {knownSays(knownShare)}{" "}
        {shadow.notComparable > 0 &&
          `${formatCounted(shadow.notComparable, "answer")} could not be compared: only one of the two judges them.`}
      </p>
    </div>
  );
}

/** A second plan that decides on live traffic without acting. */
export const ShadowSection = memo(function ShadowSection(props: {
  readonly clusterId: string;
  /** In force, so there is nothing to compare it with. */
  readonly planId: string;
  readonly shadow: Shadow | null;
}) {
  const { clusterId, shadow } = props;
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const button = useFocusHandover<HTMLButtonElement>(!open);
  const [chosen, setChosen] = useState<string | null>(null);
  const [reason, setReason] = useState("");
  const choices = usePlanChoices(clusterId, open).filter(({ plan }) => plan.id !== props.planId);
  const planId = (choices.find(({ plan }) => plan.id === chosen) ?? choices[0])?.plan.id;
  const start = useGatewayAct(
    (order: { readonly planId: string; readonly reason: string }) => client.gateway.startShadow.mutate({ clusterId, ...order }),
    () => {
      button.handOver();
      setOpen(false);
    },
  );
  const end = useGatewayAct(() => client.gateway.endShadow.mutate({ clusterId, reason: "" }));
  const ended = shadow !== null && shadow.endReason !== "";
  return (
    <ControlSection
      testId="shadow"
      title="Shadow"
      wide={shadow !== null || open}
      error={start.error ?? end.error}
      says={
        shadow === null ? (
          "No other plan is being compared."
        ) : (
          <>
            <StateWord tone={ended ? "bad" : "accent"}>{ended ? "ended" : "watching"}</StateWord>
            <span>
              <code className="font-mono text-ink">{shortHash(shadow.candidate.planId)}</code>{" "}
              {ended
                ? `ended on an internal error: ${shadow.endReason}`
                : `on ${formatCounted(shadow.requests, "request")}, by ${shadow.by}`}
            </span>
          </>
        )
      }
      action={
        shadow === null ? (
          <PermittedButton permission="operate" ref={button.target} aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Close shadow" : "Compare a plan"}
          </PermittedButton>
        ) : (
          <PermittedButton permission="operate" ref={button.target} onClick={() => !end.isPending && end.mutate()}>
            {ended ? "Clear shadow" : "End shadow"}
          </PermittedButton>
        )
      }
    >
      {shadow !== null && <Detail shadow={shadow} />}
      {shadow === null &&
        open &&
        (planId === undefined ? (
          <p className="text-sm text-ink-3">No other plan of this cluster is saved: review one from the Plan page.</p>
        ) : (
          <form
            className="flex flex-wrap items-end gap-x-4 gap-y-3"
            onSubmit={(event) => {
              event.preventDefault();
              if (!start.isPending) start.mutate({ planId, reason });
            }}
          >
            <SelectField
              className="w-96 max-w-full"
              label="Plan to compare"
              value={planId}
              options={choices.map(({ option }) => option)}
              onChange={setChosen}
            />
            <ReasonField className="min-w-40 flex-1" label="Reason for the shadow (optional)" value={reason} onChange={setReason} />
            <Button type="submit" look="primary">
              Start shadow
            </Button>
          </form>
        ))}
    </ControlSection>
  );
});
