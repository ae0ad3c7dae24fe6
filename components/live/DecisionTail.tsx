"use client";

import { useQuery } from "@tanstack/react-query";
import { memo, useEffect, useState } from "react";
import { type Outputs, useTRPC } from "../api/trpc";
import { StateWord } from "../ui/Badge";
import { formatClock, formatScore, formatSeconds, shortHash } from "../ui/format";
import { Modal } from "../ui/Modal";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { Table } from "../ui/Table";
import { prepareDecision } from "./prepareDecision";
import type { Turns } from "./turns";
import { useTurn } from "./useTurn";

type Decision = Outputs["live"]["decisions"][number];

const TAIL = 40;
const REFRESH_MS = 2_000;
const NONE: readonly Decision[] = [];

const columns = [
  { key: "at", name: "At" },
  { key: "path", name: "Path" },
  { key: "answer", name: "Answer" },
  { key: "e2e", name: "End to end", numeric: true },
  { key: "open", name: "Reason", numeric: true },
] as const;

const stageColumns = [
  { key: "model", name: "Stage" },
  { key: "replica", name: "Replica" },
  { key: "wait", name: "Queued", numeric: true },
  { key: "took", name: "Answered in", numeric: true },
  { key: "judge", name: "Judge", numeric: true },
  { key: "score", name: "Score", numeric: true },
  { key: "threshold", name: "Threshold", numeric: true },
  { key: "why", name: "Why" },
] as const;

function Inspector({ decision }: { readonly decision: Decision }) {
  return (
    <div className="flex flex-col gap-3 text-sm">
      <p className="text-ink-2">
        Status {decision.status}, plan <span className="font-mono">{shortHash(decision.planId)}</span>, policy{" "}
        <span className="font-mono">{shortHash(decision.policyHash)}</span>. End to end {formatSeconds(decision.endToEndSeconds)}, first
        token after {formatSeconds(decision.ttftSeconds)}, gateway overhead {formatSeconds(decision.overheadSeconds)}.
        {decision.canary === true && " A canary's candidate decided."}
      </p>
      {decision.reason !== "" && <p>The gateway answered itself: {decision.reason}</p>}
      {decision.stages.length === 0 ? (
        <p>It reached no stage: {prepareDecision(decision).note}.</p>
      ) : (
        <Table caption="Stages of this request" columns={stageColumns}>
          {decision.stages.map((stage) => (
            <tr key={`${stage.model}${stage.replica}${stage.verdict}`}>
              <td>{stage.model}</td>
              <td className="font-mono text-xs">{stage.replica}</td>
              <td className="text-right">{formatSeconds(stage.queueSeconds)}</td>
              <td className="text-right">{formatSeconds(stage.seconds)}</td>
              <td className="text-right">{formatSeconds(stage.judgeSeconds)}</td>
              <td className="text-right">{formatScore(stage.judgedScore)}</td>
              <td className="text-right">{stage.threshold ?? "–"}</td>
              <td>
                {stage.verdict}: {stage.reason.replaceAll("-", " ")}
              </td>
            </tr>
          ))}
        </Table>
      )}
      <p className="text-xs text-ink-3">Decision records hold no prompt and no answer.</p>
    </div>
  );
}

function Path({ decision }: { readonly decision: Decision }) {
  const { path, note } = prepareDecision(decision);
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
      {path}
      {note !== null && <StateWord tone="warn">{note}</StateWord>}
    </span>
  );
}

const Row = memo(function Row({ decision, onOpen }: { readonly decision: Decision; readonly onOpen: (decision: Decision) => void }) {
  return (
    <tr>
      <td className="whitespace-nowrap text-ink-3">{formatClock(new Date(decision.finishedAtMs).toISOString())}</td>
      <td>
        <Path decision={decision} />
      </td>
      <td>{decision.status < 400 ? "answered" : <StateWord tone="bad">failed {decision.status}</StateWord>}</td>
      <td className="text-right">{formatSeconds(decision.endToEndSeconds)}</td>
      <td className="text-right">
        <button type="button" className="text-accent underline-offset-2 hover:underline" onClick={() => onOpen(decision)}>
          Why
        </button>
      </td>
    </tr>
  );
});

/** The newest routing decisions, each with why it was answered as it was. */
export function DecisionTail(props: { readonly clusterId: string; readonly paused: boolean; readonly turns: Turns }) {
  const { clusterId, paused, turns } = props;
  const trpc = useTRPC();
  const query = useQuery(
    trpc.live.decisions.queryOptions({ clusterId, limit: TAIL }, { refetchInterval: paused ? false : REFRESH_MS, staleTime: 0 }),
  );
  const [decisions, ask] = useTurn(turns, () => query.data ?? NONE);
  useEffect(() => {
    if (query.data !== undefined) ask();
  }, [query.data, ask]);
  // Held as it was opened: the tail moves on within seconds.
  const [open, setOpen] = useState<Decision | null>(null);
  const status = queryStatus(query, {
    what: "Reading decisions",
    empty: query.data?.length === 0 && {
      kind: "empty",
      title: "No decision yet",
      text: "Each request answered by the gateway leaves a record here. Start a load to see some.",
    },
  });
  return (
    <>
      <PanelState status={status}>
        {() => (
          <div className="relative max-h-80 overflow-y-auto">
            <Table caption="Newest decisions" columns={columns}>
              {decisions.map((decision) => (
                <Row key={decision.sequence} decision={decision} onOpen={setOpen} />
              ))}
            </Table>
          </div>
        )}
      </PanelState>
      <Modal
        open={open !== null}
        onOpenChange={(isOpen) => !isOpen && setOpen(null)}
        title="Why this answer"
        description="The stages this request went through, what each score was held against, and where its time went."
      >
        {open !== null && <Inspector decision={open} />}
      </Modal>
    </>
  );
}
