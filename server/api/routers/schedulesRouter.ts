import { scheduleSchema } from "@/server/contracts/studio/schedule";
import { byCluster } from "../base/inputs";
import { enableScheduleSchema } from "../base/profilingInputs";
import { procedureFor, router } from "./trpc";

export const schedulesRouter = router({
  get: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.schedules.get(input.clusterId)),
  set: procedureFor("operate")
    .input(scheduleSchema)
    .mutation(({ ctx, input }) => ctx.services.schedules.set(input, ctx.caller.name)),
  enable: procedureFor("operate")
    .input(enableScheduleSchema)
    .mutation(({ ctx, input: { clusterId, enabled } }) => ctx.services.schedules.enable(clusterId, enabled, ctx.caller.name)),
  remove: procedureFor("operate")
    .input(byCluster)
    .mutation(({ ctx, input }) => ctx.services.schedules.remove(input.clusterId, ctx.caller.name)),
});
