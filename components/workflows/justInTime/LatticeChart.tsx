"use client";

import { type KeyboardEvent, useRef } from "react";
import { cssPercent } from "@/components/charts/cssPercent";
import type { ConfigurationSpace } from "@/solver/workflow/configurationSpace";
import { configurationWords, type Lattice, type LatticeMark, markWords, neighboursOf, stepTo, type WayMark } from "./prepareLattice";

/** Distance between marks, and the margins above and below them. */
const [PITCH, MARGIN] = [10, 8];

const shapes = {
  left: "size-2 rounded-full bg-accent",
  pruned: "size-2 rounded-full border-[1.5px] border-ink-2 bg-panel",
  never: "size-1 rounded-full bg-line-strong",
} as const;

/** A configuration in which every agent has its chosen model. */
const FINAL = "size-2 rotate-45 bg-accent outline-2 outline-offset-1 outline-accent";

/** Position of a mark's middle. */
interface Place {
  readonly x: number;
  readonly y: number;
}

/** A configuration on the program's path. */
const ON_WAY = "outline-2 outline-offset-1 outline-accent";

/**
 * The product order of a program's configurations, each as a mark, cheaper ones to the left. Draws a prepared picture; arrow keys move over
 * it.
 */
export function LatticeChart(props: {
  readonly lattice: Lattice & { readonly marks: readonly LatticeMark[] };
  readonly space: ConfigurationSpace;
  readonly chosen: number;
  /** The resulting configuration; null: agents are undecided. */
  readonly final: number | null;
  readonly way: readonly WayMark[];
  readonly onChoose: (configuration: number) => void;
}) {
  const { lattice, space, chosen, final, way, onChoose } = props;
  const { marks, levels, widest } = lattice;
  const buttons = useRef(new Map<number, HTMLButtonElement>());
  const height = widest * PITCH + 2 * MARGIN;
  const placeOf = ({ upgrades, offset }: LatticeMark): Place => ({ x: (upgrades + 0.5) / levels.length, y: height / 2 + offset * PITCH });
  const places = new Map(marks.map((mark) => [mark.configuration, placeOf(mark)]));
  const from = places.get(chosen);
  const onWay = new Set(way.map(({ configuration }) => configuration));

  function walk(event: KeyboardEvent) {
    if (!event.key.startsWith("Arrow") && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    const next = stepTo(marks, chosen, event.key);
    onChoose(next);
    buttons.current.get(next)?.focus();
  }

  return (
    <div className="flex min-w-0 flex-col gap-1" data-testid="lattice">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form's. */}
      <div
        role="group"
        aria-label="Configurations; arrow keys go from one to the next, Home and End to the smallest and the largest models"
        className="relative"
        style={{ height }}
        onKeyDown={walk}
      >
        <svg aria-hidden="true" className="absolute inset-0 size-full" stroke="var(--ink-3)">
          {from !== undefined &&
            neighboursOf(space, chosen).map((neighbour) => {
              const to = places.get(neighbour);
              return to === undefined ? null : <line key={neighbour} x1={cssPercent(from.x)} y1={from.y} x2={cssPercent(to.x)} y2={to.y} />;
            })}
          {way.slice(1).map(({ configuration, decided }, at) => {
            const [start, end] = [places.get(way[at]?.configuration ?? -1), places.get(configuration)];
            if (start === undefined || end === undefined) return null;
            const ends = { x1: cssPercent(start.x), y1: start.y, x2: cssPercent(end.x), y2: end.y };
            return <line key={decided.length} {...ends} stroke="var(--accent)" strokeWidth="2.5" data-testid="way" />;
          })}
        </svg>
        {marks.map((mark) => {
          const place = placeOf(mark);
          const isChosen = mark.configuration === chosen;
          return (
            <button
              key={mark.configuration}
              ref={(button) => {
                if (button === null) buttons.current.delete(mark.configuration);
                else buttons.current.set(mark.configuration, button);
              }}
              type="button"
              tabIndex={isChosen ? 0 : -1}
              aria-pressed={isChosen}
              aria-label={configurationWords(space, mark, final)}
              title={configurationWords(space, mark, final)}
              onClick={() => onChoose(mark.configuration)}
              className={`absolute flex size-2.5 -translate-x-1/2 -translate-y-1/2 items-center justify-center rounded-full ${isChosen ? "ring-2 ring-ink" : ""}`}
              style={{ left: cssPercent(place.x), top: place.y }}
            >
              <span
                className={mark.configuration === final ? FINAL : `${shapes[mark.state]} ${onWay.has(mark.configuration) ? ON_WAY : ""}`}
                data-state={mark.state}
              />
            </button>
          );
        })}
      </div>
      <p aria-hidden="true" className="flex text-center text-xs text-ink-3">
        {levels.map(({ upgrades }) => (
          <span key={upgrades} className="flex-1">
            {upgrades}
          </span>
        ))}
      </p>
      <p className="text-xs text-ink-3">Steps up from the smallest models throughout: 0 the cheapest, {levels.length - 1} the largest.</p>
      <p aria-hidden="true" className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-2">
        <span className="inline-flex items-center gap-1.5">
          <span className={shapes.left} /> {markWords.left}
        </span>
        <span className="inline-flex items-center gap-1.5">
          <span className={shapes.pruned} /> {markWords.pruned}
        </span>
        <span className="inline-flex items-center gap-1.5">
          <span className={shapes.never} /> {markWords.never}
        </span>
        <span className="inline-flex items-center gap-2">
          <span className="h-0.5 w-4 bg-accent" /> its path: the largest configuration left after each choice
        </span>
        <span className="inline-flex items-center gap-2">
          <span className={FINAL} /> result
        </span>
      </p>
    </div>
  );
}
