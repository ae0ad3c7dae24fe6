"use client";

import { memo, useState } from "react";
import type { Canary } from "@/server/contracts/studio";
import { useGatewayAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { formatCount, formatPercent, formatSeconds, shortHash } from "../ui/format";
import { PermittedButton } from "../ui/PermittedButton";
import { Table } from "../ui/Table";
import { useFocusHandover } from "../ui/useFocusHandover";
import { useNow } from "../ui/useNow";
import { CanaryForm, type CanaryOrder } from "./CanaryForm";
import { ControlSection } from "./ControlSection";
import { type CanaryPicture, type CanaryStep, canaryEnd, prepareCanary } from "./prepareCanary";
import { usePlanChoices } from "./usePlanChoices";

const columns = [
  { key: "arm", name: "This step" },
  { key: "finished", name: "Finished", numeric: true },
  { key: "failed", name: "Failed", numeric: true },
  { key: "slow", name: "Slow", numeric: true },
] as const;

const stepLooks: Readonly<Record<CanaryStep["state"], string>> = {
  done: "border-accent bg-accent-soft text-accent",
  now: "border-accent font-semibold text-ink",
  next: "border-line text-ink-3",
  "not reached": "border-dashed border-line text-ink-3",
};

function Steps({ picture }: { readonly picture: CanaryPicture }) {
  return (
    <ol aria-label="Steps of the canary" className="flex list-none flex-wrap gap-1 text-xs">
      {picture.steps.map(({ share, state }) => (
        <li key={share} aria-current={state === "now" ? "step" : undefined} className={`rounded border px-2 py-0.5 ${stepLooks[state]}`}>
          {formatPercent(share)} <span className="font-normal">{state}</span>
        </li>
      ))}
    </ol>
  );
}

function Detail({ canary, picture }: { readonly canary: Canary; readonly picture: CanaryPicture }) {
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-sm text-ink-2">
        <Steps picture={picture} />
        {picture.running && (
          <span>
            {formatSeconds(picture.secondsInStep)} of {formatSeconds(canary.stepSeconds)}, {formatCount(canary.candidateArm.finished)} of{" "}
            {formatCount(canary.minRequests)} requests
          </span>
        )}
      </div>
      {picture.running && (
        <div
          role="progressbar"
          aria-label="Step of the canary"
          aria-valuenow={Math.round(picture.progress * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          className="h-1 rounded bg-line"
        >
          <div className="h-full rounded bg-accent" style={{ width: `${picture.progress * 100}%` }} />
        </div>
      )}
      <Table caption="Both sides of the canary" columns={columns}>
        {picture.arms.map((arm) => (
          <tr key={arm.name}>
            <td>{arm.name}</td>
            <td className="text-right">{formatCount(arm.finished)}</td>
            <td className="text-right whitespace-nowrap">
              {formatCount(arm.failed)} <span className="text-xs text-ink-3">{formatPercent(arm.failedShare)}</span>
            </td>
            <td className="text-right whitespace-nowrap">
              {formatCount(arm.slow)} <span className="text-xs text-ink-3">{formatPercent(arm.slowShare)}</span>
            </td>
          </tr>
        ))}
      </Table>
      <p className="text-xs text-ink-3">
        {picture.says} Failed: answered with 5xx, or not at all. {canary.stop.slow === null ? "Latency does not stop this canary." : ""}
      </p>
    </div>
  );
}

/** A plan that takes a growing share of the programs, and stops by itself when it fails or is slow. */
export const CanarySection = memo(function CanarySection(props: {
  readonly clusterId: string;
  /** In force. */
  readonly planId: string;
  readonly policyHash: string;
  readonly applying: boolean;
  readonly canary: Canary | null;
  readonly served: readonly string[];
  readonly timeScale: number;
}) {
  const { clusterId, planId, canary } = props;
  const client = useTRPCClient();
  const nowMs = useNow(1000) ?? 0;
  const [open, setOpen] = useState(false);
  const button = useFocusHandover<HTMLButtonElement>(!open);
  const [shown, setShown] = useState(false);
  const choices = usePlanChoices(clusterId, open).filter(({ plan }) => plan.approvalStanding === "valid" && plan.id !== planId);
  const start = useGatewayAct(
    (order: CanaryOrder) => client.gateway.startCanary.mutate({ clusterId, ...order }),
    () => {
      button.handOver();
      setOpen(false);
    },
  );
  const withdraw = useGatewayAct(() => client.gateway.stopCanary.mutate({ clusterId, reason: "" }));
  const picture = canary === null ? null : prepareCanary(canary, nowMs);
  const running = picture?.running === true;
  return (
    <ControlSection
      testId="canary"
      title="Canary"
      wide={running || open || shown}
      error={start.error ?? withdraw.error}
      says={
        canary === null || picture === null ? (
          "No other plan is being tried."
        ) : (
          <>
            <StateWord tone={picture.tone}>{picture.word}</StateWord>
            <span>
              <code className="font-mono text-ink">{shortHash(canary.candidate.planId)}</code>{" "}
              {running ? `takes ${formatPercent(picture.share)} of programs, by ${canary.by}` : canaryEnd(canary, props.policyHash)}
            </span>
          </>
        )
      }
      action={
        <span className="flex gap-2">
          {picture !== null && !running && (
            <Button look="quiet" aria-expanded={shown} onClick={() => setShown(!shown)}>
              {shown ? "Hide counts" : "Last counts"}
            </Button>
          )}
          {running ? (
            <PermittedButton
              permission="operate"
              ref={button.target}
              look="danger"
              onClick={() => !withdraw.isPending && withdraw.mutate()}
            >
              Withdraw canary
            </PermittedButton>
          ) : (
            <PermittedButton
              permission="operate"
              ref={button.target}
              aria-expanded={open}
              disabled={props.applying}
              onClick={() => setOpen(!open)}
            >
              {open ? "Close canary" : "Try a plan"}
            </PermittedButton>
          )}
        </span>
      }
    >
      {canary !== null && picture !== null && (running || shown) && <Detail canary={canary} picture={picture} />}
      {!running && open && (
        <CanaryForm choices={choices} served={props.served} timeScale={props.timeScale} pending={start.isPending} onStart={start.mutate} />
      )}
    </ControlSection>
  );
});
