"use client";

import { useMemo } from "react";
import type { LabRun } from "@/server/contracts/studio";
import { Badge } from "../ui/Badge";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { CopyButton } from "../ui/CopyButton";
import { SelectField } from "../ui/Field";
import { formatRate, shortHash } from "../ui/format";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { saveText } from "../ui/saveText";
import { runCsv, runJson } from "./exportRun";
import { FigureGrid } from "./FigureGrid";
import { type LabView, latencyKinds } from "./labCodec";
import { partialNote, runDigest } from "./prepareRun";
import { prepareSystems, shownSystems } from "./prepareSystems";
import { ResultTable } from "./ResultTable";
import { SystemChip } from "./SystemChip";
import { formatSpec } from "./specText";

const latencyTexts = {
  latency: "per program (makespan)",
  "per-token": "per output token",
  "per-token-p95": "per output token, p95",
} as const;

/** The result of a run. While it continues, figures cover the finished cells. */
export function ResultPanel(props: {
  readonly run: LabRun;
  readonly view: LabView;
  readonly write: (change: Partial<LabView>, how: "push" | "replace") => void;
}) {
  const { run, view, write } = props;
  const { systems, rates, seeds } = run.spec;
  const marks = useMemo(() => prepareSystems(systems), [systems]);
  const shown = useMemo(() => shownSystems(marks, systems, view.shown), [marks, systems, view.shown]);
  const rate = view.rate !== null && view.rate < rates.length ? view.rate : Math.floor(rates.length / 2);
  const against = view.against !== null && view.against < systems.length ? view.against : 0;
  const { sort, descending } = view;
  const tableView = useMemo(() => ({ rate, against, sort, descending }), [rate, against, sort, descending]);
  const note = partialNote(run);
  const digest = runDigest(run);
  const name = `weir-lab-${shortHash(run.id)}`;
  const link = `${window.location.origin}/lab?run=${run.id}&spec=${formatSpec(run.spec)}`;
  const show = (index: number, on: boolean) => {
    const now = shown.map((mark) => mark.index);
    write({ shown: on ? [...now, index].sort((a, b) => a - b) : now.filter((each) => each !== index) }, "replace");
  };
  return (
    <Panel
      title="Results"
      aside={
        <>
          <Badge tone="hatched" title="Engines, lengths and success of programs are simulated; see the notes.">
            modelled
          </Badge>
          {digest !== "" && (
            <span data-testid="lab-digest" data-digest={digest} title={digest}>
              digest {shortHash(digest)}
            </span>
          )}
          <Button onClick={() => saveText(`${name}.csv`, runCsv(run, marks))}>CSV</Button>
          <Button onClick={() => saveText(`${name}.json`, runJson(run))}>JSON</Button>
          <CopyButton text={link} label="Copy link" />
        </>
      }
    >
      <PanelState
        status={
          run.cells.length === 0
            ? {
                kind: "empty",
                title: "No cell has finished yet",
                text: "Figures appear here as cells finish: one system at one rate with one seed at a time.",
              }
            : note === null
              ? { kind: "ready" }
              : { kind: "partial", note }
        }
      >
        {() => (
          <div className="flex flex-col gap-6">
            <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
              <SelectField
                label="At the rate"
                value={String(rate)}
                options={rates.map((each, index) => ({ value: String(index), text: `${formatRate(each)} programs` }))}
                onChange={(value) => write({ rate: Number(value) }, "push")}
              />
              <SelectField
                label="Compared to"
                value={String(against)}
                options={marks.map((mark) => ({ value: String(mark.index), text: mark.label }))}
                onChange={(value) => write({ against: Number(value) }, "push")}
              />
              <SelectField
                label="Latency in charts"
                value={view.latency}
                options={latencyKinds.map((value) => ({ value, text: latencyTexts[value] }))}
                onChange={(latency) => write({ latency }, "push")}
              />
              <p className="min-h-8 max-w-prose flex-1 basis-60 text-xs text-ink-3">
                {seeds.length === 1
                  ? "One seed: no interval. Differences may be chance."
                  : `Means over ${seeds.length} seeds with 90 % intervals. Every system served the same programs, so differences are paired and narrower than the intervals of each.`}
              </p>
            </div>
            <ResultTable run={run} marks={marks} view={tableView} write={write} />
            <fieldset>
              <legend className="mb-1 text-xs text-ink-3">In the charts; hide distant systems to see the others in detail</legend>
              <div className="flex flex-wrap gap-x-5 gap-y-1">
                {marks.map((mark) => {
                  const on = shown.includes(mark);
                  return (
                    <Check
                      key={mark.index}
                      checked={on}
                      disabled={on && shown.length === 1}
                      onChange={(checked) => show(mark.index, checked)}
                    >
                      <SystemChip mark={mark} />
                    </Check>
                  );
                })}
              </div>
            </fieldset>
            <FigureGrid run={run} marks={marks} shown={shown} rate={rate} latency={view.latency} />
          </div>
        )}
      </PanelState>
    </Panel>
  );
}
