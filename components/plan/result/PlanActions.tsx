"use client";

import { Button } from "@/components/ui/Button";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { shortHash } from "@/components/ui/format";
import { PermittedButton } from "@/components/ui/PermittedButton";
import type { Plan } from "@/solver/plan/plan";
import { useReview } from "./useReview";

/** Saves a plan as a document that import reads back unchanged. */
function download(plan: Plan): void {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(plan, null, 2)}\n`], { type: "application/json" }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = `weir-plan-${shortHash(plan.id)}.json`;
  anchor.click();
  URL.revokeObjectURL(url);
}

/** The actions on the exact plan; null while there is none. */
export function PlanActions({ plan }: { readonly plan: Plan | null }) {
  const review = useReview();
  return (
    <>
      <ErrorLine error={review.error} />
      <Button disabled={plan === null} onClick={() => plan !== null && download(plan)}>
        Export JSON
      </Button>
      <PermittedButton
        permission="prepare"
        look="primary"
        disabled={plan === null || review.isPending}
        onClick={() => plan !== null && review.mutate(plan.id)}
      >
        Review and apply
      </PermittedButton>
    </>
  );
}
