"use client";

import { type KeyboardEvent, useId, useRef, useState } from "react";
import { cssPercent } from "@/components/charts/cssPercent";
import { Badge } from "@/components/ui/Badge";
import { DataTable } from "@/components/ui/DataTable";
import { ModelChip } from "@/components/ui/ModelChip";
import { adjacentBar } from "./adjacentBar";
import type { GanttBar, GanttDrawing, GanttPicture } from "./prepareGantt";

const ARROWS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]);

/** One session: hatched while its model is loaded, filled while it answers, hollow where answers are only expected. */
function Bar(props: {
  readonly bar: GanttBar;
  readonly fontPx: number | null;
  readonly isThin: boolean;
  readonly isTabStop: boolean;
  readonly onPoint: (bar: GanttBar | null) => void;
}) {
  const { bar, fontPx, onPoint } = props;
  const filled = `color-mix(in oklab, ${bar.hue} 38%, var(--panel))`;
  return (
    <button
      type="button"
      data-bar={bar.key}
      aria-label={bar.text}
      tabIndex={props.isTabStop ? 0 : -1}
      onFocus={() => onPoint(bar)}
      onPointerEnter={() => onPoint(bar)}
      className={`absolute flex min-w-[2px] overflow-hidden text-left ${props.isThin ? "top-0 bottom-px border-x" : "inset-y-px rounded-[2px] border"} ${bar.share === null ? "" : "border-dashed"}`}
      style={{ left: cssPercent(bar.from), width: cssPercent(bar.width), borderColor: bar.hue }}
    >
      <span className="h-full shrink-0" style={{ width: cssPercent(bar.loading), background: "var(--hatch)" }} />
      <span className="relative h-full min-w-0 flex-1 overflow-hidden">
        <span className="absolute inset-y-0 left-0" style={{ width: cssPercent(bar.share ?? 1), background: filled }} />
        {fontPx !== null && bar.label !== "" && (
          <span
            className="absolute inset-0 flex items-center pl-1 leading-none font-medium whitespace-nowrap text-ink"
            style={{ fontSize: fontPx }}
          >
            {bar.label}
          </span>
        )}
      </span>
    </button>
  );
}

/** One schedule: a row for each worker, idle time shaded, and a line where the last one ends. */
function Drawing(props: {
  readonly drawing: GanttDrawing;
  readonly picture: GanttPicture;
  readonly pointed: string | null;
  readonly onPoint: (bar: GanttBar | null) => void;
}) {
  const { drawing, picture, pointed, onPoint } = props;
  const { rows, end } = drawing;
  const rowsBox = useRef<HTMLDivElement>(null);
  const first = rows.find(({ bars }) => bars.length > 0)?.bars[0]?.key ?? "";
  const tabStop = rows.some(({ bars }) => bars.some(({ key }) => key === pointed)) ? pointed : first;

  function walk(event: KeyboardEvent) {
    if (!ARROWS.has(event.key)) return;
    event.preventDefault();
    const next = adjacentBar(rows, tabStop ?? first, event.key);
    rowsBox.current?.querySelector<HTMLButtonElement>(`[data-bar="${next}"]`)?.focus();
  }

  return (
    <section aria-label={drawing.title} className="min-w-0" data-testid={`gantt-${drawing.key}`}>
      <p className="mb-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
        <span className="text-sm font-medium text-ink">{drawing.title}</span>
        {drawing.word !== null && <Badge tone="hatched">{drawing.word}</Badge>}
        <span className="text-ink">{end.text}</span>
        {drawing.idleText !== "" && <span>{drawing.idleText}</span>}
      </p>
      <div className="grid grid-cols-[5rem_1fr] max-sm:grid-cols-[2.5rem_1fr]">
        <div aria-hidden="true" className="text-[10px] leading-none text-ink-3">
          {rows.map(({ key, label }) => (
            <div
              key={key}
              className="flex items-center overflow-visible whitespace-nowrap max-sm:overflow-hidden"
              style={{ height: picture.rowPx }}
            >
              <span className="max-sm:hidden">{label}</span>
              <span className="sm:hidden">{label.replace("worker ", "w ").replace("aggregator ", "a ")}</span>
            </div>
          ))}
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form's. */}
        <div
          ref={rowsBox}
          role="group"
          aria-label={`${drawing.says} Arrow keys go from session to session.`}
          className="relative border-l border-line-strong"
          onKeyDown={walk}
          onPointerLeave={() => onPoint(null)}
        >
          {picture.ticks.map(({ at }) => (
            <span key={at} aria-hidden="true" className="absolute inset-y-0 border-l" style={{ left: cssPercent(at) }} />
          ))}
          {rows.map((row) => (
            <div key={row.key} className="relative" style={{ height: picture.rowPx }}>
              {row.idle.map(({ from, width }) => (
                <span
                  key={from}
                  aria-hidden="true"
                  className="absolute inset-y-px bg-[color-mix(in_oklab,var(--ink-3)_16%,transparent)]"
                  style={{ left: cssPercent(from), width: cssPercent(width) }}
                />
              ))}
              {row.bars.map((bar) => (
                <Bar
                  key={bar.key}
                  bar={bar}
                  fontPx={picture.fontPx}
                  isThin={picture.isThin}
                  isTabStop={bar.key === tabStop}
                  onPoint={onPoint}
                />
              ))}
            </div>
          ))}
          <span
            aria-hidden="true"
            className="pointer-events-none absolute -inset-y-1 border-l-2 border-ink"
            style={{ left: cssPercent(end.at) }}
          />
        </div>
      </div>
    </section>
  );
}

/** Schedules of workers over one another on one time axis. Draws a prepared picture, decides nothing; arrow keys walk over its sessions. */
export function GanttChart({ picture, caption }: { readonly picture: GanttPicture; readonly caption: string }) {
  const captionId = useId();
  const [pointed, setPointed] = useState<{ readonly drawing: string; readonly bar: GanttBar } | null>(null);
  const shown = picture.drawings
    .find(({ key }) => key === pointed?.drawing)
    ?.rows.flatMap(({ bars }) => bars)
    .find(({ key }) => key === pointed?.bar.key);
  return (
    <figure aria-labelledby={captionId} className="m-0 flex min-w-0 flex-col gap-3" data-testid="gantt">
      <figcaption id={captionId} className="sr-only">
        {caption}
      </figcaption>
      {picture.drawings.map((drawing) => (
        <Drawing
          key={drawing.key}
          drawing={drawing}
          picture={picture}
          pointed={pointed?.drawing === drawing.key ? pointed.bar.key : null}
          onPoint={(bar) => setPointed(bar === null ? null : { drawing: drawing.key, bar })}
        />
      ))}
      <div aria-hidden="true" className="grid grid-cols-[5rem_1fr] max-sm:grid-cols-[2.5rem_1fr]">
        <span />
        <div className="relative h-4 text-xs text-ink-3">
          {picture.ticks.map(({ at, text }) => (
            <span
              key={at}
              className={`absolute whitespace-nowrap ${at > 0.94 ? "-translate-x-full" : at === 0 ? "" : "-translate-x-1/2"}`}
              style={{ left: cssPercent(at) }}
            >
              {text}
            </span>
          ))}
        </div>
      </div>
      <p aria-hidden="true" className="min-h-5 text-sm text-ink-2 [overflow-wrap:anywhere]">
        {shown?.text ?? <span className="text-ink-3">Hover over a session, or use the arrow keys.</span>}
      </p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-2">
        {picture.key.map((identity) => (
          <ModelChip key={identity.model} identity={identity} />
        ))}
        <span aria-hidden="true" className="inline-flex items-center gap-1.5">
          <span className="h-3 w-4 rounded-[2px] border border-line-strong" style={{ background: "var(--hatch)" }} /> loading
        </span>
        {picture.isShaded && (
          <span aria-hidden="true" className="inline-flex items-center gap-1.5">
            <span className="h-3 w-4 bg-[color-mix(in_oklab,var(--ink-3)_16%,transparent)]" /> idle
          </span>
        )}
        <span aria-hidden="true" className="inline-flex items-center gap-1.5">
          <span className="h-3 border-l-2 border-ink" /> all are done
        </span>
      </div>
      <details>
        <summary className="text-xs text-ink-3">As a table</summary>
        <div className="mt-2 max-h-80 overflow-y-auto">
          <DataTable
            caption={`Sessions: ${caption}`}
            rows={picture.table}
            rowKey={(row) => row.key}
            columns={[
              { name: "Schedule", cell: (row) => row.schedule },
              { name: "Worker", className: "whitespace-nowrap", cell: (row) => row.worker },
              { name: "Model", className: "[overflow-wrap:anywhere]", cell: (row) => row.model },
              { name: "Questions", numeric: true, cell: (row) => row.prompts },
              { name: "Loads from", numeric: true, cell: (row) => row.from },
              { name: "Answers from", numeric: true, cell: (row) => row.ready },
              { name: "Until", numeric: true, cell: (row) => row.until },
            ]}
          />
        </div>
      </details>
    </figure>
  );
}
