"use client";

import { type KeyboardEvent, memo, useState } from "react";
import { Badge, StateWord } from "@/components/ui/Badge";
import { formatPercent } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { LiveFrame } from "@/server/contracts/studio";
import { failingOf } from "./engineFindings";
import { whenText } from "./findings";
import { type HeatCell, heatNodes, utilisationsOf } from "./heatNodes";

const moves: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Arrows go from GPU to GPU; Tab passes the strip in one step. */
function onArrow(event: KeyboardEvent<HTMLButtonElement>): void {
  const move = moves[event.key];
  if (move === undefined) return;
  const cells = [...(event.currentTarget.closest("[data-testid=gpu-heat]")?.querySelectorAll<HTMLButtonElement>("button") ?? [])];
  event.preventDefault();
  cells[cells.indexOf(event.currentTarget) + move]?.focus();
}

/** Takes plain values only, so that an unchanged GPU is not redrawn. */
const Cell = memo(function Cell(props: {
  readonly id: string;
  readonly text: string;
  readonly utilisation: number | null;
  readonly memoryPercent: number | null;
  readonly letter: string;
  readonly hue: string | null;
  readonly part: string | null;
  readonly isTabStop: boolean;
  readonly onPoint: (id: string) => void;
}) {
  const { id, utilisation, memoryPercent, hue, part, onPoint } = props;
  return (
    <li>
      <button
        type="button"
        aria-label={props.text}
        tabIndex={props.isTabStop ? 0 : -1}
        onFocus={() => onPoint(id)}
        onMouseEnter={() => onPoint(id)}
        onKeyDown={onArrow}
        className={`relative flex h-10 w-full flex-col items-center justify-center overflow-hidden rounded border text-xs ${utilisation === null ? "hatched" : ""}`}
        style={{
          ...(hue === null ? {} : { borderColor: hue }),
          background:
            utilisation === null ? undefined : `color-mix(in oklab, var(--accent) ${Math.round(utilisation * 45)}%, var(--panel))`,
        }}
      >
        <span className="font-medium">{formatPercent(utilisation)}</span>
        <span className="max-w-full truncate text-[10px] leading-3">{part === null ? props.letter : `${props.letter} ${part}`}</span>
        {memoryPercent !== null && (
          <span aria-hidden="true" className="absolute bottom-0 left-0 h-[3px] bg-ink-3" style={{ width: `${memoryPercent}%` }} />
        )}
      </button>
    </li>
  );
});

/** What utilisation measures, and the state of the GPU metrics' source where it is not fresh. */
function Source({ frame }: { readonly frame: LiveFrame }) {
  const { gpuSources, gpus, atMs } = frame;
  const failing = gpuSources.flatMap((source) => {
    const found = source.state === "fresh" ? null : failingOf(source);
    return found === null ? [] : [{ source, word: found.word, since: whenText(found.when, atMs) }];
  });
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1 text-xs text-ink-3">
      {failing.map(({ source: { name, kind, reason }, word, since }) => (
        <span key={name} className="inline-flex flex-wrap items-baseline gap-x-2 text-ink-2 [overflow-wrap:anywhere]">
          <StateWord tone="warn">{word}</StateWord>
          <span title={since.title}>
            {kind} {since.text}: {reason}
          </span>
        </span>
      ))}
      {utilisationsOf(gpus).map(({ word, text, says }) => (
        <span key={word}>
          <Badge tone={says === "little" ? "warn" : "neutral"}>{word}</Badge> {text}
        </span>
      ))}
    </div>
  );
}

/**
 * GPUs by node: utilisation as depth of colour and as a number, memory as the bar below, the model as letter and border; power,
 * temperature and the rest of the GPU under the pointer, or with the focus, are written below.
 */
export function GpuHeat({ frame, identities }: { readonly frame: LiveFrame; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  const [pointed, setPointed] = useState<string | null>(null);
  const nodes = heatNodes(frame);
  const cells = nodes.flatMap(({ name, gpus }) => gpus.flatMap((gpu) => gpu.cells.map((cell) => ({ name, cell }))));
  const chosen = cells.find(({ cell }) => cell.key === pointed);
  const tabStop = (chosen ?? cells[0])?.cell.key;
  if (cells.length === 0) {
    return (
      <>
        <Source frame={frame} />
        <p className="text-sm text-ink-3">
          {frame.gpuSources.length === 0
            ? "No source of GPU metrics: dcgm-exporter is not configured and this host has no nvidia-smi."
            : "No GPU has been reported yet."}
        </p>
      </>
    );
  }
  const draw = (cell: HeatCell) => {
    const identity = cell.model === null ? undefined : identities.get(cell.model);
    return (
      <Cell
        key={cell.key}
        id={cell.key}
        text={cell.text}
        utilisation={cell.gpu.utilisation}
        memoryPercent={cell.memoryUse === null ? null : Math.round(Math.min(1, cell.memoryUse) * 100)}
        letter={identity?.letter ?? "·"}
        hue={identity?.hue ?? null}
        part={cell.gpu.instance?.profile ?? null}
        isTabStop={cell.key === tabStop}
        onPoint={setPointed}
      />
    );
  };
  return (
    <div className="flex flex-col gap-2" data-testid="gpu-heat">
      <Source frame={frame} />
      {nodes.map((node) => (
        <div key={node.name} className="flex items-start gap-2">
          <span className="w-16 shrink-0 truncate pt-2.5 text-xs text-ink-3" title={node.name}>
            {node.name}
          </span>
          <ul
            aria-label={`GPUs of ${node.name}`}
            className="grid min-w-0 flex-1 list-none grid-cols-[repeat(auto-fit,minmax(40px,1fr))] gap-1"
          >
            {node.gpus.flatMap(({ cells: own }) => own.map(draw))}
          </ul>
        </div>
      ))}
      <p className="min-h-5 text-xs text-ink-2 [overflow-wrap:anywhere]">
        {chosen === undefined ? (
          <span className="text-ink-3">
            Hover over a GPU, or reach one with Tab and the arrow keys, for its memory, power and temperature.
          </span>
        ) : (
          `${chosen.name}: ${chosen.cell.text}`
        )}
      </p>
    </div>
  );
}
