import { memo } from "react";
import { ModelMark } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Table } from "@/components/ui/Table";
import { NODE_HEIGHT, NODE_WIDTH } from "../graph/drawEdges";
import type { DeclaredAgent, DeclaredPicture } from "./prepareDeclared";

const columns = [
  { key: "agent", name: "Agent" },
  { key: "reads", name: "Reads" },
  { key: "part", name: "Role of its answer" },
  { key: "models", name: "May run on" },
  { key: "writes", name: "Writes at most", numeric: true },
  { key: "instructions", name: "Instructions" },
] as const;

function Agent({ agent, identities }: { readonly agent: DeclaredAgent; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  const { hue } = agent.identity;
  return (
    <div
      title={agent.says}
      className="absolute flex flex-col justify-center overflow-hidden rounded-md border-2 border-l-[6px] px-2 text-sm"
      style={{
        ...{ left: agent.x, top: agent.y, width: NODE_WIDTH, height: NODE_HEIGHT },
        borderColor: hue,
        background: `color-mix(in oklab, ${hue} 10%, var(--panel))`,
      }}
    >
      <span className="max-w-full truncate font-medium">{agent.identity.name}</span>
      {agent.models === null ? (
        <span className="truncate text-xs text-ink-2">{agent.note}</span>
      ) : (
        <span className="flex gap-1 overflow-hidden">
          {agent.models.map((model) => {
            const identity = identities.get(model);
            return identity === undefined ? null : <ModelMark key={model} identity={identity} />;
          })}
        </span>
      )}
    </div>
  );
}

/**
 * A declared workflow by layers, with the models that may run each agent. Draws a prepared picture, decides nothing; the table has the same
 * data.
 */
export const DeclaredGraph = memo(function DeclaredGraph(props: {
  readonly picture: DeclaredPicture;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
}) {
  const { picture, identities } = props;
  const hues = new Map(picture.agents.map(({ key, identity }) => [key, identity.hue]));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section className="scroll-cue max-h-[32rem] overflow-auto" tabIndex={0} aria-label={picture.says} data-testid="declared-graph">
      <div className="relative mx-auto" style={{ width: picture.width, height: picture.height }}>
        <svg aria-hidden="true" className="absolute inset-0" width={picture.width} height={picture.height}>
          {picture.edges.map(({ key, from, path, arrow }) => (
            <g key={key}>
              <path d={path} fill="none" stroke={hues.get(from)} strokeWidth="1.75" strokeOpacity="0.75" />
              <path d={arrow} fill={hues.get(from)} />
            </g>
          ))}
        </svg>
        {picture.agents.map((agent) => (
          <Agent key={agent.key} agent={agent} identities={identities} />
        ))}
      </div>
    </section>
  );
});

/** The same as a table. */
export function DeclaredTable({ picture }: { readonly picture: DeclaredPicture }) {
  return (
    <Table caption="Agents, in the order in which they are declared" columns={columns} stacked>
      {picture.rows.map((row) => (
        <tr key={row.key}>
          <td className="font-medium">{row.name}</td>
          <td data-name="reads">{row.reads}</td>
          <td>{row.part}</td>
          <td data-name="may run on">{row.models}</td>
          <td data-name="writes at most" className="text-right">
            {row.writes}
          </td>
          <td data-name="instructions" className="max-w-96 truncate max-sm:max-w-full" title={row.instructions}>
            {row.instructions}
          </td>
        </tr>
      ))}
    </Table>
  );
}
