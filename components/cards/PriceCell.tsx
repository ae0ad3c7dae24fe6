import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { MOST_GPU_PRICE_USD } from "@/solver/hardware/cardSchema";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { formatUsd } from "../ui/format";
import { NumberInput } from "../ui/NumberInput";
import { PermittedButton } from "../ui/PermittedButton";
import type { GpuEntry } from "./prepareCards";

/** A GPU's price with its origin and date; a list price is a default, to be replaced by the actual price. */
export function PriceCell({ gpu }: { readonly gpu: GpuEntry }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  /** The price being typed, null before one is; null: none is changed. */
  const [draft, setDraft] = useState<{ readonly usd: number | null } | null>(null);
  const set = useMutation({
    mutationFn: async (usdPerGpuHour: number | null) => unwrapOutcome(await client.cards.setPrice.mutate({ gpu: gpu.id, usdPerGpuHour })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: trpc.pathKey() });
      setDraft(null);
    },
  });
  if (draft === null) {
    return (
      <div className="flex w-48 items-start gap-2">
        <span className="flex-1 tabular-nums">
          {formatUsd(gpu.usdPerGpuHour)}
          <span className="block text-xs text-ink-3">
            {gpu.price === null ? "no price read" : `${gpu.price.provider}, ${gpu.price.asOf}`}
          </span>
        </span>
        <PermittedButton
          permission="prepare"
          look="quiet"
          aria-label={`Change the price of ${gpu.id}`}
          onClick={() => setDraft({ usd: gpu.usdPerGpuHour })}
        >
          Change
        </PermittedButton>
      </div>
    );
  }
  return (
    <form
      className="flex min-w-44 flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (draft.usd !== null) set.mutate(draft.usd);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") setDraft(null);
      }}
    >
      <span className="flex flex-wrap items-center gap-1.5">
        <NumberInput
          label={`Price of ${gpu.id} in dollars an hour`}
          value={draft.usd}
          above
          min={0}
          max={MOST_GPU_PRICE_USD}
          step={0.01}
          onChange={(usd) => setDraft({ usd })}
        />
        <span className="text-xs text-ink-3">$ per hour</span>
      </span>
      <span className="flex flex-wrap gap-1">
        <Button type="submit" look="primary" disabled={set.isPending || draft.usd === null}>
          Save
        </Button>
        {gpu.ownPrice && (
          <Button disabled={set.isPending} onClick={() => set.mutate(null)}>
            {gpu.own ? "No price" : "List price"}
          </Button>
        )}
        <Button look="quiet" onClick={() => setDraft(null)}>
          Cancel
        </Button>
      </span>
      <ErrorLine error={set.error} />
    </form>
  );
}
