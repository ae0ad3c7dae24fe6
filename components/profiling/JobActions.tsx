import { useState } from "react";
import type { ProfileJob } from "@/server/contracts/studio";
import { useProfileAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { FormModal } from "../ui/FormModal";

/** The actions on an unfinished job: pause it, or stop it permanently after a confirmation. */
export function JobActions({ job }: { readonly job: ProfileJob }) {
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const pause = useProfileAct(() => client.profiles.pause.mutate({ jobId: job.id }));
  const stop = useProfileAct(
    () => client.profiles.stop.mutate({ jobId: job.id }),
    () => setOpen(false),
  );
  if (job.state !== "running" && job.state !== "paused") return null;
  return (
    <div className="ml-auto flex flex-wrap items-center gap-2">
      <ErrorLine error={pause.error} />
      {job.state === "running" && (
        <Button disabled={pause.isPending} onClick={() => pause.mutate()}>
          {pause.isPending ? "Pausing …" : "Pause"}
        </Button>
      )}
      <Button look="danger" onClick={() => setOpen(true)}>
        Stop
      </Button>
      <FormModal
        open={open}
        onClose={() => setOpen(false)}
        title={`Stop ${job.request.name} for good?`}
        description="It cannot be resumed. Measurements stay, and a workload can be made of the complete prompts. To continue later, pause it."
        act={stop}
        onSubmit={() => stop.mutate()}
        keep="Keep it running"
        go="Stop profile"
        look="danger"
      />
    </div>
  );
}
