import { arrivalsPreviewSchema } from "@/server/contracts/studio/arrivals";
import { procedure, router } from "../base/trpc";

export const arrivalsRouter = router({
  preview: procedure.input(arrivalsPreviewSchema).mutation(({ ctx, input }) => ctx.services.arrivals.preview(input)),
});
