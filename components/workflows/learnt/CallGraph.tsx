import { memo } from "react";
import { NODE_HEIGHT, NODE_WIDTH } from "../graph/drawEdges";
import type { CallGraphPicture, DrawnAgent, DrawnEdge } from "./prepareCallGraph";

const hueOf = ({ identity }: Pick<DrawnAgent, "identity">): string => identity?.hue ?? "var(--ink-3)";

function Edge({ edge, hue, lit }: { readonly edge: DrawnEdge; readonly hue: string; readonly lit: boolean }) {
  return (
    <g opacity={lit ? 1 : 0.25} data-edge={edge.key}>
      <title>{edge.says}</title>
      <path
        d={edge.path}
        fill="none"
        stroke={hue}
        strokeWidth={edge.width}
        strokeOpacity="0.75"
        {...(edge.isBack ? { strokeDasharray: "7 4" } : {})}
      />
      <path d={edge.arrow} fill={hue} />
    </g>
  );
}

/** A call graph. Draws a prepared picture, decides nothing: edges as an image, agents as buttons in reading order. */
export const CallGraph = memo(function CallGraph(props: {
  readonly picture: CallGraphPicture;
  /** Key of the chosen agent: its edges are highlighted. */
  readonly chosen: string | null;
  readonly onAgent: (key: string) => void;
  readonly onUnfold: () => void;
}) {
  const { picture, chosen, onAgent, onUnfold } = props;
  const { width, height, agents, edges } = picture;
  const hues = new Map(agents.map((agent) => [agent.key, hueOf(agent)]));
  const isDrawn = chosen !== null && hues.has(chosen);
  const isLit = ({ from, to }: DrawnEdge) => !isDrawn || from === chosen || to === chosen;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section className="scroll-cue max-h-[40rem] overflow-auto" tabIndex={0} aria-label={picture.says} data-testid="call-graph">
      <div className="relative mx-auto" style={{ width, height }}>
        <svg aria-hidden="true" className="absolute inset-0" width={width} height={height}>
          {edges.map((edge) => (
            <Edge key={edge.key} edge={edge} hue={hues.get(edge.from) ?? "var(--ink-3)"} lit={isLit(edge)} />
          ))}
        </svg>
        {edges.map(
          (edge) =>
            edge.label !== "" &&
            isLit(edge) && (
              <span
                key={edge.key}
                aria-hidden="true"
                title={edge.says}
                className="absolute -translate-x-1/2 -translate-y-1/2 rounded bg-panel px-1 text-xs leading-4 whitespace-nowrap text-ink-2"
                style={{ left: edge.labelX, top: edge.labelY }}
              >
                {edge.label}
              </span>
            ),
        )}
        {agents.map((agent) => (
          <button
            key={agent.key}
            type="button"
            aria-pressed={agent.key === chosen}
            aria-label={agent.identity === null ? `${agent.name}: draw them one by one` : agent.says}
            title={agent.says}
            onClick={() => (agent.identity === null ? onUnfold() : onAgent(agent.key))}
            className={`absolute flex flex-col justify-center overflow-hidden rounded-md border-2 border-l-[6px] px-2 text-left text-sm ${agent.identity === null ? "border-dashed" : ""} ${agent.key === chosen ? "ring-2 ring-ink ring-offset-1 ring-offset-panel" : ""}`}
            style={{
              left: agent.x,
              top: agent.y,
              width: NODE_WIDTH,
              height: NODE_HEIGHT,
              borderColor: hueOf(agent),
              background: `color-mix(in oklab, ${hueOf(agent)} 10%, var(--panel))`,
            }}
          >
            <span className="max-w-full truncate font-medium">{agent.name}</span>
            <span className="text-xs text-ink-2">{agent.figures}</span>
          </button>
        ))}
      </div>
    </section>
  );
});
