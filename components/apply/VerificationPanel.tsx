"use client";

import { useState } from "react";
import type { LiveTopics } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { createLive } from "../live/live";
import { useDrawn } from "../live/useDrawn";
import { useLiveStream } from "../live/useLiveStream";
import { StateWord } from "../ui/Badge";
import { Table } from "../ui/Table";
import { prepareVerification } from "./prepareVerification";

const columns = [
  { key: "name", name: "Figure" },
  { key: "promised", name: "Promised" },
  { key: "measured", name: "Measured", numeric: true },
  { key: "verdict", name: "Verdict" },
] as const;

const FRAMES_ONLY: LiveTopics = { charts: null, decisions: null };

/** Whether the plan in force does what it promised, from what is measured at the gateway. */
export function VerificationPanel({ plan, clusterId }: { readonly plan: Plan; readonly clusterId: string }) {
  const [live] = useState(createLive);
  useLiveStream(live, clusterId, FRAMES_ONLY);
  const frame = useDrawn(live, (state) => state.shown.at(-1) ?? null);
  return (
    <Table caption="Promised and measured" columns={columns}>
      {prepareVerification(plan, frame).map((row) => (
        <tr key={row.name}>
          <td>{row.name}</td>
          <td>{row.promised}</td>
          <td className="text-right font-medium">{row.measured}</td>
          <td>
            <StateWord tone={row.verdict.tone}>{row.verdict.word}</StateWord>
            <span className="block text-xs text-ink-3">{row.basis}</span>
          </td>
        </tr>
      ))}
    </Table>
  );
}
