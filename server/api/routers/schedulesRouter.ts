import { scheduleSchema } from "@/server/contracts/studio/schedule";
import { byCluster } from "../base/inputs";
import { enableScheduleSchema } from "../base/profilingInputs";
import { procedure, router } from "./trpc";

export const schedulesRouter = router({
  get: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.schedules.get(input.clusterId)),
  set: procedure.input(scheduleSchema).mutation(({ ctx, input }) => ctx.services.schedules.set(input, ctx.session.name)),
  enable: procedure
    .input(enableScheduleSchema)
    .mutation(({ ctx, input: { clusterId, enabled } }) => ctx.services.schedules.enable(clusterId, enabled, ctx.session.name)),
  remove: procedure.input(byCluster).mutation(({ ctx, input }) => ctx.services.schedules.remove(input.clusterId, ctx.session.name)),
});
