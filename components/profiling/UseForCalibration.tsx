import { useRouter } from "next/navigation";
import type { ProfileJob } from "@/server/contracts/studio";
import { useTRPCClient } from "../api/trpc";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { useProfileAct } from "./useProfileAct";

/** Takes the latencies that were seen to Calibration, where predictions are held against them. */
export function UseForCalibration({ job }: { readonly job: ProfileJob }) {
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const take = useProfileAct(
    () => client.profiles.toMeasuredRuns.mutate({ jobId: job.id }),
    ({ uploadId }) => router.push(link(`/calibration?rows=${uploadId}`)),
  );
  return (
    <div className="flex flex-wrap items-center gap-3 text-sm">
      <Button disabled={take.isPending} onClick={() => take.mutate(undefined)}>
        {take.isPending ? "Taking them …" : "Use its latencies for calibration"}
      </Button>
      <span className="min-w-0 text-xs text-ink-3">TTFT and time per token of engines with known hardware, compared with predictions.</span>
      <ErrorLine error={take.error} />
    </div>
  );
}
