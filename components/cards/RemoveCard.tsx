import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { takeOutcome } from "../api/takeOutcome";
import { type Inputs, useTRPC, useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { Modal } from "../ui/Modal";

/** Removes a card of one's own, once that is confirmed. */
export function RemoveCard({ kind, id }: Inputs["cards"]["remove"]) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const remove = useMutation({
    mutationFn: async () => takeOutcome(await client.cards.remove.mutate({ kind, id })),
    onSuccess: () => queries.invalidateQueries({ queryKey: trpc.pathKey() }),
  });
  return (
    <>
      <Button look="danger" aria-label={`Remove ${id}`} onClick={() => setOpen(true)}>
        Remove
      </Button>
      <Modal
        open={open}
        onOpenChange={setOpen}
        title={`Remove ${id}?`}
        description="Plans made with it stay and keep its figures; new ones can no longer use it."
      >
        {remove.error !== null && (
          <p role="alert" className="text-sm text-bad">
            {remove.error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={() => setOpen(false)}>Keep it</Button>
          <Button look="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
            Remove card
          </Button>
        </div>
      </Modal>
    </>
  );
}
