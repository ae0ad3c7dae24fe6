"use client";

import { useMemo } from "react";
import { useReview } from "@/components/plan/result/useReview";
import { Button } from "@/components/ui/Button";
import { DataTable } from "@/components/ui/DataTable";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { NoteList } from "@/components/ui/Notes";
import type { MixBeside } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { classRows, engineRows, mixSays } from "./prepareMix";

/** A plan for a mix: its engines and figures beside those in force, its notes, and the way to its review. */
export function MixResult(props: { readonly plan: Plan; readonly beside: MixBeside | null; readonly inForce: Plan | null }) {
  const { plan, beside, inForce } = props;
  const review = useReview();
  const compares = beside?.kind === "served";
  const view = useMemo(
    () => ({
      engines: engineRows(plan, inForce),
      classes: plan.predictions.mix === undefined ? [] : classRows(plan.predictions.mix, beside),
      says: mixSays(plan, { inForce, beside }),
    }),
    [plan, inForce, beside],
  );
  return (
    <div className="flex flex-col gap-4" data-testid="mix-plan">
      <NoteList label="What it brings" items={view.says} className="flex flex-col gap-1 text-sm" />
      <DataTable
        caption="Figures by class, simulated under this policy; outcomes of workflows are modelled"
        stacked
        rows={view.classes}
        rowKey={({ name }) => name}
        columns={[
          { name: "Class", cell: (row) => row.name },
          { name: "Rate", numeric: true, cell: (row) => row.rate },
          { name: "Floor", numeric: true, cell: (row) => row.floor },
          { name: "Quality", numeric: true, cell: (row) => row.quality },
          { name: "Mean", numeric: true, cell: (row) => row.mean },
          { name: "p95", numeric: true, cell: (row) => row.p95 },
          compares && { name: "Mean, in force", numeric: true, cell: (row) => row.meanInForce },
          compares && { name: "p95, in force", numeric: true, cell: (row) => row.p95InForce },
        ]}
      />
      <DataTable
        caption="Engines by model"
        stacked
        rows={view.engines}
        rowKey={({ model }) => model}
        columns={[
          { name: "Model", cell: (row) => row.model },
          { name: "Planned", labelled: true, cell: (row) => row.planned },
          inForce !== null && { name: "In force", labelled: true, cell: (row) => row.inForce },
          { name: "Load", numeric: true, cell: (row) => row.load },
          { name: "Price", numeric: true, cell: (row) => row.price },
        ]}
      />
      <p className="text-xs text-ink-3">
        Load is the share of a model's capacity that the mix takes. The price is the percent by which all rates may rise for 1 % more of a
        model's capacity.
      </p>
      <details>
        <summary className="text-xs text-ink-3">Before you trust these figures</summary>
        <NoteList label="Notes" items={plan.predictions.notes} className="mt-2 list-disc pl-5 text-xs text-ink-3" />
      </details>
      <div className="flex flex-wrap items-center gap-3">
        <Button look="primary" disabled={review.isPending} onClick={() => review.mutate(plan.id)}>
          {review.isPending ? "Saving …" : "Review and apply"}
        </Button>
        <ErrorLine error={review.error} />
      </div>
    </div>
  );
}
