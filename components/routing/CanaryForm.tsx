"use client";

import { useState } from "react";
import type { Inputs } from "../api/trpc";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { NumberField, SelectField, TextField } from "../ui/Field";
import { ReasonField } from "../ui/ReasonField";
import { parseShares, slowSeconds, stopRule } from "./prepareCanary";
import type { PlanChoice } from "./usePlanChoices";

export type CanaryOrder = Omit<Inputs["gateway"]["startCanary"], "clusterId">;

/** Default settings of a canary. */
const DEFAULTS = { shares: "5, 25, 100", stepSeconds: 60, minRequests: 100, errorPercent: 2, slowPercent: 20 } as const;

/** The plan that takes a growing share, its speed, and its stop conditions. */
export function CanaryForm(props: {
  readonly choices: readonly PlanChoice[];
  /** Models with an engine now. */
  readonly served: readonly string[];
  /** Cluster seconds per wall second. */
  readonly timeScale: number;
  readonly pending: boolean;
  readonly onStart: (order: CanaryOrder) => void;
}) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [shares, setShares] = useState<string>(DEFAULTS.shares);
  const [stepSeconds, setStepSeconds] = useState<number>(DEFAULTS.stepSeconds);
  const [minRequests, setMinRequests] = useState<number>(DEFAULTS.minRequests);
  const [errorPercent, setErrorPercent] = useState<number>(DEFAULTS.errorPercent);
  const [slow, setSlow] = useState(true);
  const [seconds, setSeconds] = useState<number | null>(null);
  const [slowPercent, setSlowPercent] = useState<number>(DEFAULTS.slowPercent);
  const [reason, setReason] = useState("");
  const plan = (props.choices.find((choice) => choice.plan.id === chosen) ?? props.choices[0])?.plan;
  if (plan === undefined) {
    return <p className="text-sm text-ink-3">No other plan of this cluster is approved: review and approve one first.</p>;
  }
  const parsed = parseShares(shares);
  const endToEndSeconds = seconds ?? slowSeconds(plan.p95Seconds);
  const stop = {
    errorShare: errorPercent / 100,
    slow: slow ? { endToEndSeconds, share: slowPercent / 100 } : null,
  };
  const missing = plan.stages.filter((model) => !props.served.includes(model));
  return (
    <form
      noValidate
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (parsed !== null && !props.pending)
          props.onStart({ planId: plan.id, shares: [...parsed], stepSeconds, minRequests, stop, reason });
      }}
    >
      <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
        <SelectField
          className="w-96 max-w-full"
          label="Approved plan to try"
          value={plan.id}
          options={props.choices.map(({ option }) => option)}
          onChange={setChosen}
        />
        <TextField
          className="w-44"
          label="Shares of programs, in %"
          value={shares}
          {...(parsed === null ? { hint: <span className="text-bad">Rising, up to 100</span> } : {})}
          onChange={setShares}
        />
        <NumberField label="Each step at least" unit="s" min={1} max={86_400} value={stepSeconds} onChange={setStepSeconds} />
        <NumberField label="and at least" unit="requests" min={1} max={1_000_000} whole value={minRequests} onChange={setMinRequests} />
      </div>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <NumberField label="Stop at failures above" unit="%" min={0} max={99} step={0.1} value={errorPercent} onChange={setErrorPercent} />
        <Check checked={slow} onChange={setSlow}>
          Stop when slow
        </Check>
        {slow && (
          <>
            <NumberField label="Slow is above" unit="s" min={0.01} max={3600} step={0.1} value={endToEndSeconds} onChange={setSeconds} />
            <NumberField label="of more than" unit="%" min={0} max={99} step={1} value={slowPercent} onChange={setSlowPercent} />
          </>
        )}
        <ReasonField className="min-w-40 flex-1" label="Reason for the canary (optional)" value={reason} onChange={setReason} />
        <Button type="submit" look="primary" disabled={parsed === null}>
          Start canary
        </Button>
      </div>
      <p className="text-xs text-ink-3">
        The candidate routes over the engines that run now. A program stays with its policy; as the share grows, programs only move to the
        candidate. {stopRule({ stop, minRequests })} After the last step it becomes the policy in force.
        {props.timeScale === 1 ? "" : " A step's seconds are wall time; a request's are cluster time."}
      </p>
      {missing.length > 0 && (
        <p className="text-sm text-warn">
          No engine of {missing.join(", ")} runs now, so the gateway will refuse this plan: apply it instead.
        </p>
      )}
    </form>
  );
}
