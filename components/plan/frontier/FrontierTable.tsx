"use client";

import { memo, type ReactNode, useEffect, useRef, useState } from "react";
import { ABSENT, formatCount, formatScore, formatScoreBound, formatSeconds, formatUsd } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { type Column, Table } from "@/components/ui/Table";
import { startText } from "@/solver/plan/directStart";
import { PolicyCell } from "./PolicyCell";
import type { FrontierRow, FrontierRows } from "./prepareFrontierTable";
import type { NamedBaseline } from "./useBaselines";

/** What the recommended row is: the exact plan below, an estimate until that is solved, or the plan that a baseline beats. */
export type RecommendedWord = "recommended" | "recommended, estimate" | "planned below";

/** The distinguishing marks of a row, in words. */
function wordsOf(row: FrontierRow, recommended: RecommendedWord): string {
  const routing = row.policy.kind === "routing" ? row.policy.routing : null;
  const words = [
    row.pin !== null && `pin ${row.pin}`,
    row.own && "your choice",
    row.role === "chosen" && recommended,
    row.policy.kind === "slack" && "slack dispatch",
    row.policy.kind === "cascade-routing" && "cascade routing",
    routing !== null && (routing.models.length === 1 ? "one model alone" : "cascade"),
    routing?.startBelow !== undefined && `direct start from ${startText(routing.startBelow)}`,
    !row.asked && "not asked for",
    row.runs && "runs now",
    row.misses && "misses floor or budget",
  ];
  return words.filter(Boolean).join(", ");
}

/** Columns that distinguish the rows: costs only where they differ, differences only where a plan runs. */
function columnsOf(costs: boolean, deltas: boolean): readonly Column[] {
  return [
    { key: "policy", name: "Policy" },
    { key: "gpus", name: "GPUs", numeric: true },
    { key: "quality", name: "Quality", numeric: true },
    { key: "p95", name: "p95", numeric: true },
    ...(costs ? [{ key: "cost", name: "$/request", numeric: true }] : []),
    ...(deltas
      ? [
          { key: "quality-delta", name: "Quality Δ", numeric: true },
          { key: "p95-delta", name: "p95 Δ", numeric: true },
        ]
      : []),
    { key: "pin", name: "Pin" },
  ];
}

/** Scrolls a table's own frame, never the page, which would move the chart away from the pointer. */
function showRow(row: HTMLTableRowElement): void {
  const frame = row.closest<HTMLElement>("[data-frame]");
  if (frame === null) return;
  const [inner, outer] = [row.getBoundingClientRect(), frame.getBoundingClientRect()];
  if (inner.top < outer.top) frame.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) frame.scrollTop += inner.bottom - outer.bottom;
}

/** A row that follows the chart: scrolled to and marked while the pointer is on its plan there. */
function FollowingRow(props: {
  readonly rowKey: string;
  readonly hovered: boolean;
  readonly chosen: boolean;
  readonly onHover: (key: string | null) => void;
  readonly children: ReactNode;
}) {
  const element = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (props.hovered && element.current !== null) showRow(element.current);
  }, [props.hovered]);
  return (
    <tr
      ref={element}
      className={props.hovered ? "bg-accent-soft" : props.chosen ? "bg-sunken" : ""}
      onPointerEnter={() => props.onHover(props.rowKey)}
      onPointerLeave={() => props.onHover(null)}
    >
      {props.children}
    </tr>
  );
}

const titles: Readonly<Record<FrontierRow["policy"]["kind"], string>> = {
  routing: "Choose this cascade and plan it",
  slack: "Plan slack dispatch at this τ",
  "cascade-routing": "Plan cascade routing",
};

const PlanRow = memo(function PlanRow(props: {
  readonly row: FrontierRow;
  readonly recommended: RecommendedWord;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly cost: boolean;
  readonly hovered: boolean;
  readonly onHover: (key: string | null) => void;
  readonly onChoose: (key: string) => void;
  readonly onPin: (key: string) => void;
}) {
  const { row } = props;
  const { candidate } = row;
  return (
    <FollowingRow rowKey={row.key} hovered={props.hovered} chosen={row.role === "chosen"} onHover={props.onHover}>
      <td className="whitespace-nowrap">
        <button
          type="button"
          title={titles[row.policy.kind]}
          aria-pressed={row.own}
          className="-mx-1 inline-flex min-h-6 items-center gap-1 rounded px-1 hover:bg-accent-soft"
          onFocus={() => props.onHover(row.key)}
          onBlur={() => props.onHover(null)}
          onClick={() => props.onChoose(row.key)}
        >
          <PolicyCell policy={row.policy} identities={props.identities} />
          <span className="pl-1 text-xs text-ink-3">{wordsOf(row, props.recommended)}</span>
        </button>
      </td>
      <td className="text-right whitespace-nowrap">{row.gpus.join(" + ")}</td>
      <td className="text-right whitespace-nowrap">
        {formatScore(candidate.quality)} <span className="text-xs text-ink-3">≥{formatScoreBound(candidate.qualityLow)}</span>
      </td>
      <td className="text-right whitespace-nowrap">{formatSeconds(candidate.latencySeconds)}</td>
      {props.cost && <td className="text-right">{formatUsd(candidate.costUsdPerRequest)}</td>}
      {row.delta !== null && (
        <>
          <td className="text-right whitespace-nowrap text-ink-2">{row.delta.quality} points</td>
          <td className="text-right whitespace-nowrap text-ink-2">{row.delta.p95Seconds} s</td>
        </>
      )}
      <td>
        {row.policy.kind === "routing" && (
          <input
            type="checkbox"
            className="size-4 accent-(--accent)"
            aria-label={`Pin ${row.key}`}
            checked={row.pin !== null}
            onFocus={() => props.onHover(row.key)}
            onBlur={() => props.onHover(null)}
            onChange={() => props.onPin(row.key)}
          />
        )}
      </td>
    </FollowingRow>
  );
});

function BaselineRow(props: {
  readonly baseline: NamedBaseline;
  /** Whether it is better than the plan. */
  readonly recommended: boolean;
  readonly cost: boolean;
  readonly deltas: boolean;
  readonly hovered: boolean;
  readonly onHover: (key: string | null) => void;
}) {
  const { key, number, name, attainable, cascade, quality, figures } = props.baseline;
  return (
    <FollowingRow rowKey={key} hovered={props.hovered} chosen={props.recommended} onHover={props.onHover}>
      <td>
        <span className="whitespace-nowrap">
          <span aria-hidden="true">▽ </span>
          {number} {name}
        </span>{" "}
        <span className="text-xs text-ink-3">
          {props.recommended && "recommended, "}
          {!attainable && "a bound that knows the labels, "}
          {cascade}
        </span>
      </td>
      <td className="text-right">{formatCount(figures.gpus)}</td>
      <td className="text-right whitespace-nowrap">
        {formatScore(quality)}{" "}
        {figures.quality !== quality && <span className="text-xs text-ink-3">≥{formatScoreBound(figures.quality)}</span>}
      </td>
      <td className="text-right whitespace-nowrap">{formatSeconds(figures.latency)}</td>
      {props.cost && <td className="text-right">{formatUsd(figures.cost)}</td>}
      {props.deltas && (
        <>
          <td className="text-right text-ink-3">{ABSENT}</td>
          <td className="text-right text-ink-3">{ABSENT}</td>
        </>
      )}
      <td />
    </FollowingRow>
  );
}

/** The chart as a table: plans that represent the range, comparable figure by figure and by keyboard, or the whole frontier. */
export function FrontierTable(props: {
  readonly table: FrontierRows<NamedBaseline>;
  readonly recommended: RecommendedWord;
  /** Key of the baseline that is better than the plan; null: none is. */
  readonly better: string | null;
  /** Whether the cluster has several GPU types. */
  readonly mixed: boolean;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly hovered: string | null;
  readonly onHover: (key: string | null) => void;
  readonly onChoose: (key: string) => void;
  readonly onPin: (key: string) => void;
}) {
  const { rows, cut, baselines, costsDiffer } = props.table;
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.filter((row) => row.brief);
  const deltas = rows.some((row) => row.delta !== null);
  if (rows.length === 0 && baselines.length === 0) return <p className="text-sm text-ink-3">No plan to list here.</p>;
  return (
    <div className="flex flex-col gap-2">
      <div data-frame className={`relative overflow-y-auto ${all ? "max-h-96" : ""}`}>
        <Table caption="Plans on the frontier, estimated from the tables" columns={columnsOf(costsDiffer, deltas)}>
          {shown.map((row) => (
            <PlanRow
              key={row.key}
              row={row}
              recommended={props.recommended}
              identities={props.identities}
              cost={costsDiffer}
              hovered={props.hovered === row.key}
              onHover={props.onHover}
              onChoose={props.onChoose}
              onPin={props.onPin}
            />
          ))}
          {baselines.map((baseline) => (
            <BaselineRow
              key={baseline.key}
              baseline={baseline}
              recommended={props.better === baseline.key}
              cost={costsDiffer}
              deltas={deltas}
              hovered={props.hovered === baseline.key}
              onHover={props.onHover}
            />
          ))}
        </Table>
      </div>
      <div className="flex flex-wrap gap-x-4 text-xs text-ink-3">
        {rows.some((row) => !row.brief) && (
          <button type="button" className="text-accent underline underline-offset-2" onClick={() => setAll(!all)}>
            {all ? "Show fewer" : `Show all ${rows.length}`}
          </button>
        )}
        {cut > 0 && <span>{formatCount(cut)} more are left out: narrow the range to show them</span>}
        {!costsDiffer && rows[0] !== undefined && <span>each {formatUsd(rows[0].candidate.costUsdPerRequest)} a request</span>}
        {props.mixed && <span>GPUs and costs are in GPUs of the cluster's average price; only the exact plan knows the GPU types</span>}
        {deltas && <span>Δ: difference to the running plan's predictions</span>}
        {baselines.length > 0 && (
          <span>
            ▽ full simulation on the same prompts, without ≥ where no bound is known; the other rows are estimates from the tables
          </span>
        )}
      </div>
    </div>
  );
}
