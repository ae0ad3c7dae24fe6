"use client";

import { skipToken, useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import type { Plan } from "@/solver/plan/plan";
import { isPredicted, modelsOf, type PolicyDocument } from "@/solver/plan/policySchema";
import { useTRPC } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { Button, buttonClass } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { Knob } from "../ui/Knob";
import { PermittedButton } from "../ui/PermittedButton";
import { useDebounced } from "../ui/useDebounced";
import { beyondSays } from "./beyondSays";
import { ControlFiguresTable } from "./ControlFiguresTable";
import { newPlanPath } from "./newPlanPath";
import { prepareControlFigures } from "./prepareControlFigures";
import { type KnobDraft, type KnobTurn, type LiveKnob, plannedDraft } from "./prepareKnobs";
import type { SlackControl } from "./prepareSlack";
import { SlackSlider } from "./SlackSlider";

/** Keys pressed in a row ask for one simulation. */
const SETTLED_MS = 300;

/** Figures that are older are simulated again: the rate may have changed. */
const FRESH_MS = 20_000;

function note({ current, planned, min, max }: LiveKnob): string {
  return `in force ${current}${planned === null ? "" : `, planned ${planned}`}, approved from ${min} to ${max}`;
}

/** The controls as sliders, with the forecast of the chosen values before they are set. */
export function KnobForm(props: {
  readonly clusterId: string;
  readonly policy: PolicyDocument;
  readonly policyHash: string;
  readonly plan: Plan | null;
  readonly slack: SlackControl | null;
  readonly knobs: readonly LiveKnob[];
  /** The request that sets the chosen values; null: they are in force. */
  readonly turn: KnobTurn | null;
  /** Requests per second for which a new plan is prepared. */
  readonly rate: number;
  readonly disabled: boolean;
  readonly onMove: (change: KnobDraft) => void;
  readonly onApply: (turn: KnobTurn) => void;
  /** Warning and reason. */
  readonly children: ReactNode;
}) {
  const trpc = useTRPC();
  const { clusterId, policy, policyHash, plan, slack, knobs, turn, rate, onMove } = props;
  const [held, setHeld] = useState(false);
  const beyond = beyondSays(knobs, slack);
  const isForecast = isPredicted(policy);
  const asked = turn === null || held || beyond !== null || !isForecast ? null : JSON.stringify({ policyHash, turn });
  const settled = useDebounced(asked, SETTLED_MS);
  const ready = asked !== null && settled === asked;
  const { data, error, isFetching } = useQuery(
    trpc.gateway.forecastControls.queryOptions(ready && turn !== null ? { clusterId, policyHash, ...turn } : skipToken, {
      staleTime: FRESH_MS,
      retry: false,
    }),
  );
  const forecast = ready && data?.ok === true ? data.forecast : null;
  const refusal = ready && data?.ok === false ? data : ready ? error : null;
  const figures = useMemo(
    () =>
      turn === null || !isForecast
        ? null
        : prepareControlFigures({
            ...{ models: modelsOf(policy), isCascade: policy.kind === "cascade", forecast },
            inForce: slack?.inForce?.estimate ?? null,
            chosen: slack?.exact ? slack.chosen.estimate : null,
          }),
    [policy, slack, turn, forecast, isForecast],
  );
  const draft = (change: KnobDraft): void => {
    setHeld(true);
    onMove(change);
  };
  const commit = (change: KnobDraft): void => {
    setHeld(false);
    onMove(change);
  };
  const single = (
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
          onDraft={(value) => draft({ [knob.key]: value })}
          onCommit={(value) => commit({ [knob.key]: value })}
          onReset={knob.value === knob.current ? null : () => commit({ [knob.key]: knob.current })}
        />
      ))}
    </div>
  );
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (turn !== null && beyond === null && !props.disabled) props.onApply(turn);
      }}
    >
      {slack === null ? (
        single
      ) : (
        <>
          <SlackSlider slack={slack} onDraft={({ values }) => draft(values)} onCommit={({ values }) => commit(values)} />
          <details>
            <summary className="cursor-pointer text-sm text-ink-2">Each control by itself</summary>
            <div className="mt-3">{single}</div>
          </details>
        </>
      )}
      {figures !== null && <ControlFiguresTable view={figures} waiting={ready && isFetching} />}
      {figures === null && ready && isFetching && <p className="text-xs text-ink-3">Simulating on the engines that serve now …</p>}
      {!isForecast && <p className="text-xs text-ink-3">The effect of a change under rounds is not forecast here; the lab can race it.</p>}
      <ErrorLine error={refusal} />
      {props.children}
      {beyond !== null && <p className="text-sm text-warn">{beyond}</p>}
      <div className="flex flex-wrap items-end gap-2">
        <Button onClick={() => commit(plannedDraft(knobs))}>Reset to plan</Button>
        {beyond === null ? (
          <PermittedButton permission="operate" type="submit" look="primary" disabled={turn === null || props.disabled}>
            Apply controls
          </PermittedButton>
        ) : (
          plan !== null &&
          slack !== null && (
            <ClusterLink to={newPlanPath(plan, rate, { kind: slack.kind, value: slack.chosen.value })} className={buttonClass("primary")}>
              Prepare the new plan
            </ClusterLink>
          )
        )}
      </div>
    </form>
  );
}
