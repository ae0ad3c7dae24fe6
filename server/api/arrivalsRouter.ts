import { arrivalsPreviewSchema } from "@/server/contracts/arrivals";
import { procedure, router } from "./trpc";

export const arrivalsRouter = router({
  preview: procedure.input(arrivalsPreviewSchema).mutation(({ ctx, input }) => ctx.services.arrivals.preview(input)),
});
