"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { PlanSummary } from "@/server/contracts/studio";
import { useScheduleAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { HourField } from "../arrivals/HourField";
import { hourOfTime, timeOfHour } from "../arrivals/prepareArrivals";
import { TimeZoneField } from "../arrivals/TimeZoneField";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { shortHash } from "../ui/format";
import { type Draft, draftProblem, type Entry, inOrder, nextTime, promisesText } from "./prepareSchedule";

const MOST_ENTRIES = 24;
const control = "h-8 min-w-0 rounded-md border border-line-strong bg-raised px-2 text-sm text-ink";

/** Saves a schedule and switches it on. */
export function ScheduleForm(props: {
  readonly clusterId: string;
  /** Approved on this cluster. */
  readonly plans: readonly PlanSummary[];
  readonly draft: Draft;
  readonly onDone: () => void;
}) {
  const { clusterId, plans } = props;
  const client = useTRPCClient();
  const [draft, setDraft] = useState(props.draft);
  const { entries } = draft;
  const set = useScheduleAct(
    () => client.schedules.set.mutate({ clusterId, timeZone: draft.timeZone.trim(), entries: [...inOrder(entries)] }),
    props.onDone,
  );
  const problem = draftProblem(draft);
  const change = (at: number, entry: Entry): void =>
    setDraft({ ...draft, entries: entries.map((other, place) => (place === at ? entry : other)) });
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === null && !set.isPending) set.mutate();
      }}
    >
      <ul className="flex list-none flex-col gap-2">
        {entries.map((entry, at) => (
          <EntryRow
            key={at}
            entry={entry}
            plans={plans}
            clusterId={clusterId}
            onChange={(changed) => change(at, changed)}
            onRemove={entries.length > 2 ? () => setDraft({ ...draft, entries: entries.filter((_, place) => place !== at) }) : null}
          />
        ))}
      </ul>
      <div className="flex flex-wrap items-end gap-3">
        <Button
          disabled={entries.length >= MOST_ENTRIES}
          onClick={() => setDraft({ ...draft, entries: [...entries, { at: nextTime(entries), planId: plans[0]?.id ?? "" }] })}
        >
          Add a time
        </Button>
        <TimeZoneField value={draft.timeZone} onChange={(timeZone) => setDraft({ ...draft, timeZone })} />
      </div>
      <p className="text-sm text-ink-2">
        Each plan is applied at its time as by the Apply button, in your name, and rolled back automatically if it has to stop or misses its
        targets. With too few spare GPUs, each switch reduces capacity for a while, every day; the simulation above starts from the current
        state and does not cover other switches. The first switch is at the next of these times; the plan in force stays until then.
      </p>
      <ErrorLine error={set.error} />
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" look="primary" disabled={problem !== null}>
          Set and switch on
        </Button>
        <Button onClick={props.onDone}>Cancel</Button>
        {problem !== null && (
          <span role="status" className="text-sm text-ink-3">
            {problem}
          </span>
        )}
      </div>
    </form>
  );
}

function EntryRow(props: {
  readonly clusterId: string;
  readonly entry: Entry;
  readonly plans: readonly PlanSummary[];
  readonly onChange: (entry: Entry) => void;
  /** null: it cannot be removed. */
  readonly onRemove: (() => void) | null;
}) {
  const { entry, plans, onChange, onRemove } = props;
  const isKnown = entry.planId === "" || plans.some(({ id }) => id === entry.planId);
  return (
    <li className="flex flex-wrap items-end gap-2">
      <HourField label="From" hour={hourOfTime(entry.at) ?? 0} onChange={(hour) => onChange({ ...entry, at: timeOfHour(hour) })} />
      <label className="flex min-w-0 flex-1 basis-52 flex-col gap-1 text-xs text-ink-3">
        Plan
        <select
          className={`${control} w-full truncate pr-6`}
          value={entry.planId}
          onChange={(event) => onChange({ ...entry, planId: event.target.value })}
        >
          {entry.planId === "" && <option value="">Choose a plan</option>}
          {!isKnown && <option value={entry.planId}>{shortHash(entry.planId)}, not approved</option>}
          {plans.map(({ id, name, workloadName, ...rest }) => (
            <option key={id} value={id}>
              {name} ({shortHash(id)}), for {workloadName}: {promisesText(rest)}
            </option>
          ))}
        </select>
      </label>
      {onRemove !== null && (
        <Button look="quiet" aria-label={`Remove ${entry.at}`} onClick={onRemove}>
          ×
        </Button>
      )}
      {entry.planId !== "" && <SwitchGap clusterId={props.clusterId} planId={entry.planId} />}
    </li>
  );
}

/** The cost of a switch while it is made, modelled from the current state: another plan may run at the scheduled time. */
function SwitchGap(plan: { readonly clusterId: string; readonly planId: string }) {
  const { data } = useQuery(useTRPC().plans.capacityDip.queryOptions(plan));
  if (data === undefined) return null;
  return (
    <p className="flex w-full items-baseline gap-2 text-xs text-ink-2">
      <Badge tone="hatched">modelled</Badge>
      <span className="min-w-0">{data.ok ? `From the current state: ${data.dip.says}` : `It cannot be simulated: ${data.message}`}</span>
    </p>
  );
}
