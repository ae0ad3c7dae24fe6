"use client";

import { useMemo, useState } from "react";
import type { EngineKind, EngineProfile, ServingMetric } from "@/solver/hardware/engineProfile";
import { rowProblemTexts } from "@/solver/workload/rowProblems";
import { prepareScatter } from "../charts/prepareScatter";
import { ScatterChart } from "../charts/ScatterChart";
import { ClusterLink } from "../shell/ClusterLink";
import { Badge } from "../ui/Badge";
import { SelectField } from "../ui/Field";
import { formatCount, formatCounted } from "../ui/format";
import { NoteList } from "../ui/Notes";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { type CalibrationView, metricNames, metrics } from "./calibrationCodec";
import { GroupTable } from "./GroupTable";
import { groupingNames, groupings, groupKey, groupMarks } from "./grouping";
import { checkedRows, inOrder } from "./prepareRows";
import { RowTable } from "./RowTable";
import type { Check } from "./useCheck";

/** Predictions against an uploaded table: chart, errors by group, rows, and what was left out. */
export function CheckPanel(props: {
  readonly check: Check;
  readonly error: string | null;
  /** The profile that predicts the runs of an engine. */
  readonly profileOf: (engine: EngineKind) => EngineProfile;
  readonly view: CalibrationView;
  readonly onView: (change: Partial<CalibrationView>) => void;
  readonly onLeave: () => void;
}) {
  const { check, view, profileOf } = props;
  const [pointed, setPointed] = useState<number | null>(null);
  const [picked, setPicked] = useState<number | null>(null);
  const rows = useMemo(() => checkedRows(check.predictions, view.metric, profileOf), [check.predictions, view.metric, profileOf]);
  const marks = useMemo(
    () =>
      groupMarks(
        rows.map(({ row }) => groupKey(row, view.group)),
        view.group,
      ),
    [rows, view.group],
  );
  const picture = useMemo(
    () =>
      prepareScatter(
        rows.flatMap(({ row, measuredSeconds, predictedSeconds }) => {
          const mark = marks.get(groupKey(row, view.group));
          if (measuredSeconds === null || mark === undefined) return [];
          return [{ key: row.line, measured: measuredSeconds, predicted: predictedSeconds, letter: mark.letter, hue: mark.hue }];
        }),
      ),
    [rows, marks, view.group],
  );
  const ordered = useMemo(() => inOrder(rows, view.order, view.descending), [rows, view.order, view.descending]);
  const name = metricNames[view.metric];
  const done = check.predictions.length;
  const status = statusOf(check, props.error, props.onLeave);
  return (
    <Panel
      title={check.name === "" ? "Against your runs" : `Against ${check.name}`}
      aside={
        <>
          <SelectField
            label="Metric"
            value={view.metric}
            options={metrics.map((metric) => ({ value: metric, text: metricNames[metric] }))}
            onChange={(value) =>
              props.onView({ metric: metrics.find((metric): metric is ServingMetric => metric === value) ?? "endToEnd" })
            }
          />
          <SelectField
            label="Group by"
            value={view.group}
            options={groupings.map((group) => ({ value: group, text: groupingNames[group] }))}
            onChange={(group) => props.onView({ group })}
          />
        </>
      }
    >
      <PanelState status={status}>
        {() => (
          <div className="flex flex-col gap-6">
            {rows.some(({ row }) => row.origin === "emulated") && (
              <p className="text-sm text-ink-2">
                <Badge tone="hatched">emulated</Badge> Runs of emulated engines: they do not show how accurate predictions are for real
                engines.
              </p>
            )}
            {check.errors === null && (
              <p role="status" className="text-sm text-ink-2">
                <span
                  role="progressbar"
                  aria-label="Runs predicted"
                  aria-valuemax={check.rows}
                  aria-valuenow={done}
                  className="mr-2 inline-block h-1.5 w-32 overflow-hidden rounded bg-line align-middle"
                >
                  <span className="block h-full bg-accent" style={{ width: `${(100 * done) / Math.max(1, check.rows)}%` }} />
                </span>
                {formatCount(done)} of {formatCounted(check.rows, "run")} predicted …
              </p>
            )}
            <div className="grid gap-x-8 gap-y-6 xl:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
              <div className="flex min-w-0 flex-col gap-2">
                <h3 className="text-sm font-semibold">Predicted (y) against measured (x) {name}</h3>
                {picture === null ? (
                  <p className="text-sm text-ink-3">
                    {check.errors === null ? "Waiting for the first predictions." : `No row has a measured ${name} to compare with.`}
                  </p>
                ) : (
                  <>
                    <ScatterChart picture={picture} name={name} pointed={pointed} onPoint={setPointed} onPick={setPicked} />
                    <p className="text-xs text-ink-3">
                      {formatCount(picture.counts.inBand)} of {formatCounted(picture.counts.drawn, "run")} within ±10 % (shaded). Means over
                      each run: public measurements have no percentiles.
                      {picture.counts.clipped > 0 && ` ${formatCount(picture.counts.clipped)} beyond the chart, as ▲ or ▼ at its edge.`}
                      {rows.length > picture.counts.drawn &&
                        ` ${formatCount(rows.length - picture.counts.drawn)} without a measured or predicted ${name}, left out.`}
                    </p>
                  </>
                )}
              </div>
              <div className="flex min-w-0 flex-col gap-2">
                <h3 className="text-sm font-semibold">Errors by {groupingNames[view.group]}</h3>
                {check.errors === null ? (
                  <p className="text-sm text-ink-3">Waiting for all predictions.</p>
                ) : (
                  <GroupTable errors={check.errors} group={view.group} marks={marks} />
                )}
                <LeftOut check={check} />
              </div>
            </div>
            <section className="flex min-w-0 flex-col gap-2">
              <h3 className="text-sm font-semibold">Runs</h3>
              <RowTable
                rows={ordered}
                metric={name}
                order={view.order}
                descending={view.descending}
                onOrder={(order, descending) => props.onView({ order, descending })}
                pointed={pointed}
                onPoint={setPointed}
                picked={picked}
              />
            </section>
          </div>
        )}
      </PanelState>
    </Panel>
  );
}

function statusOf(check: Check, error: string | null, onLeave: () => void): PanelStatus {
  const refusal = check.refusal ?? error;
  if (refusal !== null) return { kind: "error", message: refusal, retry: null };
  if (check.name === "") return { kind: "loading", what: "Reading the table" };
  if (check.errors !== null && check.predictions.length === 0) {
    return {
      kind: "empty",
      title: "No run of this table can be predicted",
      text: leftOutTexts(check).slice(0, 3).join(" ") || "It has no rows.",
      action: (
        <span className="flex flex-wrap items-center justify-center gap-4">
          <MissingCards check={check} />
          <button type="button" className="text-sm font-medium text-accent underline underline-offset-2" onClick={onLeave}>
            Choose another file
          </button>
        </span>
      ),
    };
  }
  if (check.bad.length > 0)
    return {
      kind: "partial",
      note: `${formatCounted(check.bad.length, "row")} could not be read and ${check.bad.length === 1 ? "is" : "are"} listed below.`,
    };
  return { kind: "ready" };
}

/** Why rows of the table were not predicted, in sentences. */
const leftOutTexts = ({ name, unsupported, bad }: Check): readonly string[] =>
  rowProblemTexts(name, [...bad, ...unsupported]).map((text) => `${text}.`);

/** Links to the forms that add the cards which rows lack. */
function MissingCards({ check }: { readonly check: Check }) {
  const missing = new Map(
    check.unsupported.flatMap(({ missingCard: card }) => (card === undefined ? [] : [[`${card.kind} ${card.name}`, card]])),
  );
  return [...missing].slice(0, MOST_LINKS).map(([key, { kind, name }]) => (
    <ClusterLink key={key} to={`/cards?add=${kind}`} className="text-sm font-medium text-accent underline underline-offset-2">
      Add the {kind === "gpu" ? "GPU" : "model"} {name}
    </ClusterLink>
  ));
}

/** Missing cards that a link leads to. */
const MOST_LINKS = 4;

/** The rows of the table that were not predicted, and why. */
function LeftOut({ check }: { readonly check: Check }) {
  const rows = check.unsupported.length + check.bad.length;
  if (rows === 0) return null;
  return (
    <details className="mt-2">
      <summary className="text-sm font-medium text-ink-2">{formatCounted(rows, "row")} not predicted</summary>
      <NoteList
        items={leftOutTexts(check)}
        className="mt-2 flex max-h-60 list-disc flex-col gap-1 overflow-y-auto pl-4 text-sm text-ink-2"
      />
      <p className="mt-2 flex flex-wrap gap-4">
        <MissingCards check={check} />
      </p>
    </details>
  );
}
