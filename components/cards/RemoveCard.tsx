import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type Inputs, useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { RemoveButton } from "../ui/RemoveButton";

/** Removes one of the user's own cards after a confirmation. */
export function RemoveCard({ kind, id }: Inputs["cards"]["remove"]) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: async () => unwrapOutcome(await client.cards.remove.mutate({ kind, id })),
    onSuccess: () => queries.invalidateQueries({ queryKey: trpc.pathKey() }),
  });
  return (
    <RemoveButton
      name={id}
      kind="card"
      consequences="Plans made with it stay and keep its figures; new ones can no longer use it."
      removal={remove}
      nameInLabel
    />
  );
}
