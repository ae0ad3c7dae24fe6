"use client";

import { useState } from "react";
import type { Inputs } from "@/components/api/trpc";
import { StateWord } from "@/components/ui/Badge";
import { Button } from "@/components/ui/Button";
import { DataTable } from "@/components/ui/DataTable";
import { PanelState } from "@/components/ui/PanelState";
import { JobProgress } from "../planning/JobProgress";
import { preparePrices, prepareSensitivity, type SensitivityRow } from "./prepareExamination";
import { type Examining, useExamination } from "./useExamination";

/**
 * The effect of one resource more or less, and the plan's figures if its assumptions are off. Computed on request, because each takes a
 * while.
 */
export function WhatIfPanel({ question }: { readonly question: Inputs["plans"]["solve"] }) {
  // Keyed by their text: a repeated request is the same one.
  const text = JSON.stringify(question);
  const [pricesFor, setPricesFor] = useState<string | null>(null);
  const [sensitivityFor, setSensitivityFor] = useState<string | null>(null);
  const prices = useExamination("prices", question, pricesFor === text);
  const sensitivity = useExamination("sensitivity", question, sensitivityFor === text);
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <Asked
        title="What-if"
        text="One more GPU or node, one point of quality more or less, and each binding constraint removed."
        examining={prices}
        asked={pricesFor === text}
        onAsk={() => setPricesFor(text)}
      >
        {prices.examination !== null && (
          <DataTable
            caption="What would change the latency"
            rows={preparePrices(prices.examination)}
            rowKey={({ key }) => key}
            columns={[
              { name: "With", cell: ({ change }) => change },
              { name: "p95", numeric: true, cell: ({ p95 }) => p95 },
              { name: "Difference", numeric: true, cell: ({ difference }) => difference },
            ]}
          />
        )}
      </Asked>
      <Asked
        title="If the forecast is off"
        text="20 % fewer or more requests, and a judge that scores lower with more noise: this plan compared with a new one."
        examining={sensitivity}
        asked={sensitivityFor === text}
        onAsk={() => setSensitivityFor(text)}
      >
        {sensitivity.examination !== null && (
          <DataTable
            caption="The plan under other forecasts"
            rows={prepareSensitivity(sensitivity.examination)}
            rowKey={({ key }) => key}
            columns={[
              { name: "Change", cell: ({ says }) => says },
              {
                name: "This plan: p95, quality",
                numeric: true,
                cell: ({ keeps, kept }) => (
                  <>
                    <StateWord tone={keeps ? "good" : "bad"}>{keeps ? "holds" : "misses"}</StateWord>
                    <Outcome figures={kept} />
                  </>
                ),
              },
              {
                name: "New plan",
                numeric: true,
                cell: ({ replanned }) => (replanned === null ? "no plan" : <Outcome figures={replanned} />),
              },
              { name: "which changes", cell: ({ changes }) => changes },
            ]}
          />
        )}
      </Asked>
    </div>
  );
}

function Outcome({ figures: { p95, quality } }: { readonly figures: SensitivityRow["kept"] }) {
  return (
    <span className="block">
      {p95}, {quality}
    </span>
  );
}

function Asked(props: {
  readonly title: string;
  readonly text: string;
  readonly examining: Pick<Examining<"prices">, "status" | "working" | "progress" | "cancelled" | "cancel" | "ask">;
  readonly asked: boolean;
  readonly onAsk: () => void;
  readonly children: React.ReactNode;
}) {
  const { examining, asked } = props;
  const pending = examining.working !== null || examining.cancelled;
  return (
    <section className="flex min-w-0 flex-col gap-2">
      <h3 className="text-sm font-semibold">{props.title}</h3>
      <p className="text-xs text-ink-3">{props.text}</p>
      {!asked && (
        <Button className="self-start" onClick={props.onAsk}>
          Compute
        </Button>
      )}
      {asked && <JobProgress job={examining} again="Compute" />}
      {asked && !pending && <PanelState status={examining.status}>{() => props.children}</PanelState>}
    </section>
  );
}
