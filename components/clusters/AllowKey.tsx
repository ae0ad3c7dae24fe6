import type { SecretUse } from "@/server/contracts/studio";
import { useAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";

/** Lets a key that was entered for other addresses, or for none yet, be sent to one more. */
export function AllowKey({ use, onAllowed }: { readonly use: SecretUse; readonly onAllowed: () => void }) {
  const client = useTRPCClient();
  const allow = useAct(() => client.clusters.allowKey.mutate(use), onAllowed);
  const name = "file" in use.key ? use.key.file : use.key.environment;
  return (
    <span className="mt-1 block">
      <Button disabled={allow.isPending} onClick={() => allow.mutate()}>
        Send {name} to {use.origin}
      </Button>
      <ErrorLine error={allow.error} />
    </span>
  );
}
