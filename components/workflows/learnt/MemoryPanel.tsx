"use client";

import { useId, useMemo } from "react";
import { cssPercent } from "@/components/charts/cssPercent";
import { Badge, StateWord } from "@/components/ui/Badge";
import { ModelMark } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Panel } from "@/components/ui/Panel";
import { Table } from "@/components/ui/Table";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { MemoryForecast } from "@/solver/policies/core/memoryForecast";
import { type DrawnReplica, type MemoryPicture, prepareMemory } from "./prepareMemory";

const HEIGHT = 72;

/** Expected tokens by slot. Draws, decides nothing. */
function Bars({ replica, hue }: { readonly replica: DrawnReplica; readonly hue: string }) {
  const { bars, capacity, slotWidth } = replica;
  const pattern = useId();
  return (
    <svg aria-hidden="true" className="w-full border-b border-line-strong" height={HEIGHT} preserveAspectRatio="none">
      <defs>
        <pattern id={pattern} width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="4" height="4" fill={hue} fillOpacity="0.25" />
          <line x1="0" y1="0" x2="0" y2="4" stroke={hue} strokeWidth="2" />
        </pattern>
      </defs>
      {bars.map((bar) => (
        <rect
          key={bar.at}
          x={cssPercent(bar.at)}
          width={cssPercent(slotWidth * 0.86)}
          y={HEIGHT * (1 - bar.height * 0.92)}
          height={HEIGHT * bar.height * 0.92}
          fill={`url(#${pattern})`}
          stroke={bar.over ? "var(--bad)" : hue}
        >
          <title>{bar.text}</title>
        </rect>
      ))}
      {capacity !== null && (
        <line
          x1="0"
          x2="100%"
          y1={HEIGHT * (1 - capacity * 0.92)}
          y2={HEIGHT * (1 - capacity * 0.92)}
          stroke="var(--ink)"
          strokeDasharray="5 3"
        />
      )}
    </svg>
  );
}

function Replica(props: {
  readonly replica: DrawnReplica;
  readonly identity: ModelIdentity | null;
  readonly onReplica: (id: string | null) => void;
}) {
  const { replica, identity, onReplica } = props;
  return (
    <li className="flex min-w-0 flex-col gap-1 rounded-md border p-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        {identity !== null && <ModelMark identity={identity} />}
        <span className="min-w-0 truncate font-medium" title={`${replica.id}, a replica of ${replica.model}`}>
          {replica.id}
        </span>
        {replica.suspended !== null && <StateWord tone="warn">nothing is sent</StateWord>}
        {replica.isFull ? <StateWord tone="warn">{replica.load}</StateWord> : <span className="text-xs text-ink-2">{replica.load}</span>}
        <button
          type="button"
          aria-expanded={replica.isChosen}
          className="ml-auto text-xs text-accent underline underline-offset-2"
          onClick={() => onReplica(replica.isChosen ? null : replica.id)}
        >
          {replica.isChosen ? "Hide requests" : "Show requests"}
        </button>
      </div>
      {replica.suspended !== null && <p className="text-xs text-warn">{replica.suspended}</p>}
      <Bars replica={replica} hue={identity?.hue ?? "var(--ink-2)"} />
      <p aria-hidden="true" className="flex justify-between text-xs text-ink-3">
        <span>now</span>
        {replica.axis !== null && <span>{replica.axis}</span>}
        <span>{replica.cut ? `${replica.span}, then more` : replica.span}</span>
      </p>
      <p className="text-xs text-ink-2">{replica.says}</p>
      {replica.isChosen && (
        <ul className="list-none border-t pt-1 text-xs text-ink-2">
          {replica.agents.length === 0 && <li>No requests now.</li>}
          {replica.agents.map(({ agent, requests, until }) => (
            <li key={agent}>
              {agent}: {requests}, {until}
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

const columns = [
  { key: "at", name: "Next", numeric: true },
  { key: "agent", name: "Agent" },
  { key: "waited", name: "Waits for", numeric: true },
  { key: "replica", name: "Goes to" },
  { key: "peak", name: "Expected peak with it", numeric: true },
] as const;

function Next({ next }: Pick<MemoryPicture, "next">) {
  if (next.length === 0) return <p className="text-sm text-ink-3">Nothing waits.</p>;
  return (
    <Table caption="Where waiting requests would go now" columns={columns} stacked>
      {next.map((row, at) => (
        <tr key={row.key}>
          <td data-name="next" className="text-right">
            {at + 1}
          </td>
          <td>{row.agent}</td>
          <td data-name="waits for" className="text-right">
            {row.waited}
          </td>
          <td>{row.replica ?? <span className="text-warn">{row.held}</span>}</td>
          <td data-name="expected peak" className="text-right">
            {row.peak}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The memory that the policy expects each replica to use over time, and where the next waiting request goes. */
export function MemoryPanel(props: {
  readonly memory: MemoryForecast | null;
  readonly replica: string | null;
  readonly onReplica: (id: string | null) => void;
}) {
  const { memory, replica, onReplica } = props;
  const picture = useMemo(() => (memory === null ? null : prepareMemory(memory, replica)), [memory, replica]);
  const identities = useModelIdentities([...new Set(picture?.replicas.map(({ model }) => model) ?? [])]);
  return (
    <Panel title="Memory over time" aside={picture === null ? undefined : <Badge tone="hatched">expected</Badge>}>
      {picture === null ? (
        <p className="text-sm text-ink-3">
          The policy in force does not pack memory. Only the placement time-slots estimates the memory of replicas.
        </p>
      ) : (
        <div className="flex flex-col gap-4" data-testid="memory">
          <ul aria-label="Replicas" className="grid list-none gap-3 md:grid-cols-2 xl:grid-cols-3">
            {picture.replicas.map((one) => (
              <Replica key={one.id} replica={one} identity={identities.get(one.model) ?? null} onReplica={onReplica} />
            ))}
          </ul>
          {picture.left > 0 && <p className="text-sm text-ink-3">{picture.left} more replicas are not drawn.</p>}
          <p className="text-xs text-ink-3">
            Each bar: the most tokens expected in {picture.slot} of engine time, hatched because they are expected, not measured; dashed
            line: what the KV cache holds, left out if far above the axis. Computed from prompt lengths and the learnt latencies above.
          </p>
          <Next next={picture.next} />
        </div>
      )}
    </Panel>
  );
}
