"use client";

import { type KeyboardEvent, memo, useEffect, useState } from "react";
import { StateWord } from "@/components/ui/Badge";
import { Button } from "@/components/ui/Button";
import { formatClock, formatCount, formatSeconds, formatUsd } from "@/components/ui/format";
import { Modal } from "@/components/ui/Modal";
import { PanelState, type PanelStatus } from "@/components/ui/PanelState";
import { Table } from "@/components/ui/Table";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { DecisionFilter } from "@/server/contracts/studio";
import { type ChosenFilter, isFiltered } from "../address/prepareFilter";
import type { Live } from "../stream/live";
import type { Tail } from "../stream/streamStore";
import { wantedAs } from "../stream/useLiveStream";
import { useLiveStreamValue } from "../stream/useLiveStreamValue";
import { DecisionFilterBar } from "./DecisionFilterBar";
import { DecisionRecord } from "./DecisionRecord";
import { type Decision, prepareDecision } from "./prepareDecision";
import { costlessText } from "./prepareRecord";

const columns = [
  { key: "at", name: "At" },
  { key: "path", name: "Path" },
  { key: "answer", name: "Answer" },
  { key: "first", name: "First token", numeric: true },
  { key: "e2e", name: "End to end", numeric: true },
] as const;
const costColumn = { key: "cost", name: "Cost", numeric: true } as const;

/** Arrow keys move from row to row, as Tab does. */
function onRowKey(event: KeyboardEvent<HTMLButtonElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const row = event.currentTarget.closest("tr");
  const next = event.key === "ArrowDown" ? row?.nextElementSibling : row?.previousElementSibling;
  const button = next?.querySelector("button");
  if (button === null || button === undefined) return;
  event.preventDefault();
  button.focus();
}

const Row = memo(function Row({
  decision,
  costs,
  onOpen,
}: {
  readonly decision: Decision;
  readonly costs: boolean;
  readonly onOpen: (decision: Decision) => void;
}) {
  const { path, note } = prepareDecision(decision);
  const at = formatClock(new Date(decision.finishedAtMs).toISOString());
  return (
    <tr>
      <td className="whitespace-nowrap">
        <button
          type="button"
          aria-label={`Open the record of ${at}`}
          className="text-accent underline-offset-2 hover:underline"
          onClick={() => onOpen(decision)}
          onKeyDown={onRowKey}
        >
          {at}
        </button>
      </td>
      <td>
        <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
          {path}
          {note !== null && <StateWord tone="warn">{note}</StateWord>}
        </span>
      </td>
      <td>{decision.status < 400 ? "answered" : <StateWord tone="bad">failed {decision.status}</StateWord>}</td>
      <td className="text-right whitespace-nowrap">{formatSeconds(decision.ttftSeconds)}</td>
      <td className="text-right whitespace-nowrap">{formatSeconds(decision.endToEndSeconds)}</td>
      {costs && <td className="text-right whitespace-nowrap">{formatUsd(decision.costUsd)}</td>}
    </tr>
  );
});

interface Neighbours {
  readonly newer: Decision | undefined;
  readonly older: Decision | undefined;
}

/** The records before and after one, even when the list has moved past it. */
const neighboursOf = (records: readonly Decision[], { sequence }: Decision): Neighbours => ({
  newer: records.findLast((each) => each.sequence > sequence),
  older: records.find((each) => each.sequence < sequence),
});

/** Buttons, and the left and right arrow keys, to the records before and after the open one. */
function Beside({ newer, older, onOpen }: Neighbours & { readonly onOpen: (decision: Decision) => void }) {
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      const next = event.key === "ArrowLeft" ? newer : event.key === "ArrowRight" ? older : undefined;
      if (next === undefined || event.target instanceof HTMLTextAreaElement) return;
      event.preventDefault();
      onOpen(next);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [newer, older, onOpen]);
  return (
    <div className="flex gap-2">
      <Button disabled={newer === undefined} onClick={() => newer !== undefined && onOpen(newer)}>
        ← Newer
      </Button>
      <Button disabled={older === undefined} onClick={() => older !== undefined && onOpen(older)}>
        Older →
      </Button>
    </div>
  );
}

function statusOf(tail: Tail | null, filter: ChosenFilter, of: string | null): PanelStatus {
  if (tail === null) return { kind: "loading", what: "Reading decisions" };
  if (tail.records.length > 0) return { kind: "ready" };
  return isFiltered(filter)
    ? { kind: "empty", title: "No record matches", text: "The filter stays on: matching records appear here." }
    : {
        kind: "empty",
        title: "No decision yet",
        text: of === null ? "Each answered request has a record here. Start a load to see some." : `No request has reached ${of} lately.`,
      };
}

/** The newest routing decisions that pass the filter, and one of them in full. */
export const Decisions = memo(function Decisions(props: {
  readonly live: Live;
  readonly clusterId: string;
  /** The operator's filter, combined with the displayed subject. */
  readonly filter: ChosenFilter;
  readonly wanted: DecisionFilter;
  readonly onFilter: (filter: ChosenFilter, how: "push" | "replace") => void;
  /** Models for the filter. */
  readonly models: readonly string[];
  /** The model or engine whose requests are shown; null: all. */
  readonly reached: { readonly scope: "model" | "engine"; readonly of: string } | null;
}) {
  const { live, clusterId, filter, wanted, onFilter, models, reached } = props;
  const tail = useLiveStreamValue(live, ({ shown }) => shown.tail);
  // The old list stays, paled, until the requested one has arrived.
  const waiting = tail !== null && tail.wanted !== wantedAs(wanted);
  const identities = useModelIdentities(models);
  // Kept as it was when opened: the list moves on within seconds.
  const [open, setOpen] = useState<Decision | null>(null);
  const records = tail?.records ?? [];
  const costless = costlessText(records);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <DecisionFilterBar filter={filter} onFilter={onFilter} models={reached?.scope === "model" ? null : models} />
        {tail !== null && (
          <p className="text-xs text-ink-3" data-testid="decisions-matched">
            {waiting && "loading; before: "}
            {formatCount(tail.matched)} of {formatCount(tail.looked)}{" "}
            {reached === null ? "match" : `reached ${reached.of}${isFiltered(filter) ? " and match" : ""}`}
          </p>
        )}
      </div>
      <PanelState status={statusOf(tail, filter, reached?.of ?? null)}>
        {() => (
          <div className={`relative max-h-96 overflow-y-auto ${waiting ? "opacity-60" : ""}`}>
            <Table caption="Newest decisions" columns={costless === null ? [...columns, costColumn] : columns}>
              {records.map((decision) => (
                <Row key={decision.sequence} decision={decision} costs={costless === null} onOpen={setOpen} />
              ))}
            </Table>
          </div>
        )}
      </PanelState>
      {costless !== null && <p className="text-xs text-ink-3">{costless}</p>}
      <Modal
        open={open !== null}
        onOpenChange={(isOpen) => !isOpen && setOpen(null)}
        title="Why this answer"
        description="The stages of this request, the threshold of each score, and where its time went."
      >
        {open !== null && (
          <>
            <Beside {...neighboursOf(records, open)} onOpen={setOpen} />
            <DecisionRecord key={open.sequence} decision={open} clusterId={clusterId} identities={identities} />
          </>
        )}
      </Modal>
    </div>
  );
});
