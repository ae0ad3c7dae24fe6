import { FrontierLabel } from "./FrontierLabel";
import type { Brush } from "./frontierBrush";
import { type Box, diamond, type Mark, type Pixel, type Placed, square, triangle, turnedTriangle } from "./frontierPixels";
import type { BaselinePoint, FrontierPicture, FrontierPoint } from "./prepareFrontier";

/** Points of a frontier in pixels; of the clouds and the line, whole paths. */
export interface PlacedFrontier {
  readonly dots: string;
  readonly crosses: string;
  /** Of kinds of policies that are not asked for. */
  readonly faintDots: string;
  readonly line: string;
  readonly frontier: readonly Placed<FrontierPoint>[];
  readonly standAlone: readonly Placed<FrontierPoint>[];
  readonly dispatch: readonly Placed<FrontierPoint>[];
  readonly curve: readonly Placed<FrontierPoint>[];
  readonly baselines: readonly Placed<BaselinePoint>[];
}

/** All marks of a frontier between its shades and its constraint lines. */
export function FrontierMarks(props: {
  readonly picture: FrontierPicture;
  readonly placed: PlacedFrontier;
  /** Highlighted plans. */
  readonly ringed: readonly (Pixel & { readonly key: string })[];
  readonly at: (mark: Mark) => Pixel;
  readonly area: Box;
  readonly hues: readonly string[];
  readonly brush: Brush | null;
  readonly hovered: string | null;
  readonly pinned: readonly string[];
}) {
  const { picture, placed, ringed, at, area, hues, brush, hovered, pinned } = props;
  return (
    <>
      <path d={placed.faintDots} stroke="var(--line-strong)" strokeWidth={3} strokeLinecap="round" opacity={0.6} />
      <path d={placed.crosses} stroke="var(--line-strong)" strokeWidth={1} fill="none" />
      <path d={placed.dots} stroke="var(--ink-3)" strokeWidth={4} strokeLinecap="round" opacity={0.55} />
      <path d={placed.line} stroke="var(--accent)" strokeWidth={1.5} fill="none" />
      <DispatchCurve points={placed.curve} />
      {placed.frontier
        .filter(({ tau }) => tau === null)
        .map((point) => (
          <circle
            key={point.key}
            cx={point.px}
            cy={point.py}
            r={3.5}
            fill={point.meets ? "var(--accent)" : "var(--panel)"}
            stroke={point.meets ? "var(--panel)" : "var(--accent)"}
          />
        ))}
      {placed.dispatch.map((point) => (
        <DispatchMark key={point.key} point={point} />
      ))}
      {placed.standAlone.map((point) => {
        const hue = point.class === "unasked" ? "var(--line-strong)" : (hues[point.standAloneModel ?? -1] ?? "var(--ink-2)");
        return (
          <path
            key={point.key}
            d={triangle(point.px, point.py, 6)}
            stroke={hue}
            strokeWidth={1.75}
            fill={point.meets && point.class !== "unasked" ? hue : "var(--panel)"}
          />
        );
      })}
      {placed.baselines.map(({ label, px, py }) => (
        <g key={label}>
          <path d={turnedTriangle(px, py, 7)} fill="var(--panel)" stroke="var(--ink)" strokeWidth={1.75} />
          <FrontierLabel x={px + 10} y={py + 4} text={label} />
        </g>
      ))}
      {ringed.map(({ key, px, py }) => (
        <g key={key}>
          <circle cx={px} cy={py} r={8} fill="none" stroke="var(--ink)" strokeWidth={key === hovered ? 2 : 1.25} />
          {pinned.includes(key) && <FrontierLabel x={px - 8} y={py - 8} anchor="end" text={`pin ${pinned.indexOf(key) + 1}`} />}
        </g>
      ))}
      {picture.chosen !== null && (
        <g>
          {picture.chosen.tau !== null && (
            <path d={square(at(picture.chosen).px, at(picture.chosen).py, 6)} fill="var(--accent)" stroke="var(--panel)" strokeWidth={2} />
          )}
          {picture.chosen.standAloneModel === null && picture.chosen.tau === null && (
            <circle
              cx={at(picture.chosen).px}
              cy={at(picture.chosen).py}
              r={6.5}
              fill="var(--accent)"
              stroke="var(--panel)"
              strokeWidth={2}
            />
          )}
          {picture.better === null && <RecommendedRing {...at(picture.chosen)} />}
        </g>
      )}
      {picture.better !== null && <RecommendedRing {...at(picture.better)} />}
      {picture.own !== null && <OwnChoice {...at(picture.own)} />}
      {picture.knee !== null && <Knee {...at(picture.knee)} />}
      {picture.running !== null && (
        <path d={diamond(at(picture.running).px, at(picture.running).py, 7)} fill="var(--panel)" stroke="var(--ink)" strokeWidth={2} />
      )}
      {brush !== null && <BrushBox low={at({ x: brush.x[0], y: brush.y[0] })} high={at({ x: brush.x[1], y: brush.y[1] })} area={area} />}
    </>
  );
}

const RecommendedRing = ({ px, py }: Pixel) => <circle cx={px} cy={py} r={10} fill="none" stroke="var(--accent)" strokeWidth={1.5} />;

/** Slack dispatch on one allocation over tau, with the tau at both ends. */
function DispatchCurve({ points }: { readonly points: readonly Placed<FrontierPoint>[] }) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  const line = points.map(({ px, py }, index) => `${index === 0 ? "M" : "L"}${px} ${py}`).join("");
  return (
    <g data-testid="dispatch-curve">
      <path
        d={line}
        stroke="var(--ink-2)"
        strokeWidth={1.5}
        strokeDasharray={first.class === "unasked" ? "2 4" : undefined}
        fill="none"
        opacity={first.class === "unasked" ? 0.7 : 1}
      />
      {[first, ...(last === first ? [] : [last])].map(({ key, tau, px, py }) => (
        <FrontierLabel key={key} x={px + 8} y={py - 6} text={`τ ${tau}`} />
      ))}
    </g>
  );
}

function DispatchMark({ point: { px, py, meets, class: own } }: { readonly point: Placed<FrontierPoint> }) {
  const asked = own !== "unasked";
  const ink = asked ? "var(--ink-2)" : "var(--line-strong)";
  return <path d={square(px, py, 3.5)} fill={asked && meets ? ink : "var(--panel)"} stroke={ink} strokeWidth={1.25} />;
}

function BrushBox({ low, high, area }: { readonly low: Pixel; readonly high: Pixel; readonly area: Box }) {
  const [left, right] = [Math.max(low.px, area.x), Math.min(high.px, area.x + area.width)];
  const [top, bottom] = [Math.max(high.py, area.y), Math.min(low.py, area.y + area.height)];
  return (
    <rect
      data-testid="brush"
      x={left}
      y={top}
      width={Math.max(0, right - left)}
      height={Math.max(0, bottom - top)}
      fill="var(--accent)"
      fillOpacity={0.1}
      stroke="var(--accent)"
      strokeDasharray="4 3"
    />
  );
}

/** A square around the cascade that the operator chose, with its name above. */
function OwnChoice({ px, py }: Pixel) {
  return (
    <g>
      <rect x={px - 7} y={py - 7} width={14} height={14} rx={2} fill="none" stroke="var(--ink)" strokeWidth={2} />
      <FrontierLabel x={px} y={py - 12} anchor="middle" text="your choice" />
    </g>
  );
}

/** Brackets around the knee, with its name below. */
function Knee({ px, py }: Pixel) {
  return (
    <g>
      <path d={`M${px - 8} ${py - 4}v-4h4M${px + 8} ${py + 4}v4h-4`} fill="none" stroke="var(--ink)" strokeWidth={1.5} />
      <FrontierLabel x={px} y={py + 22} anchor="middle" text="knee" />
    </g>
  );
}
