import { secretUseSchema } from "@/server/contracts/engine/engineAccess";
import {
  attachSchema,
  byCluster,
  byEngine,
  changeConnectionSchema,
  clusterDescriptionSchema,
  connectionTextSchema,
  detachSchema,
  enterJudgeTimeSchema,
  tryEndpointsSchema,
  tryJudgeSchema,
} from "../base/inputs";
import { never, procedureFor, router } from "./trpc";

export const clustersRouter = router({
  list: procedureFor("read").query(({ ctx }) => ctx.services.clusters.list()),
  gpus: procedureFor("read").query(({ ctx }) => ctx.services.clusters.gpus()),
  describe: procedureFor("prepare")
    .input(clusterDescriptionSchema)
    .mutation(({ ctx, input }) => ctx.services.clusters.describe(input, ctx.caller.name)),
  secretsFolder: procedureFor("attach").query(({ ctx }) => ctx.services.attach.secretsFolder()),
  // A mutation: it asks addresses of the caller's choice, with stored keys.
  tryEndpoints: procedureFor("attach")
    .input(tryEndpointsSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.attach.tryEndpoints(input, signal ?? never(), ctx.caller.name)),
  allowKey: procedureFor("attach")
    .input(secretUseSchema)
    .mutation(({ ctx, input }) => ctx.services.attach.allowKey(input, ctx.caller.name)),
  tryConnection: procedureFor("attach")
    .input(connectionTextSchema)
    .mutation(({ ctx, input }) => ctx.services.attach.tryConnection(input.text, ctx.caller.name)),
  attach: procedureFor("attach")
    .input(attachSchema)
    .mutation(({ ctx, input }) => ctx.services.attach.attach(input, ctx.caller.name)),
  change: procedureFor("attach")
    .input(changeConnectionSchema)
    .mutation(({ ctx, input }) => ctx.services.attach.change(input.clusterId, input.connection, ctx.caller.name)),
  testConnection: procedureFor("attach")
    .input(byCluster)
    .mutation(({ ctx, input }) => ctx.services.attach.testConnection(input.clusterId)),
  detail: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.attach.detail(input.clusterId)),
  detach: procedureFor("attach")
    .input(detachSchema)
    .mutation(({ ctx, input }) => ctx.services.attach.detach(input.clusterId, input.name, ctx.caller.name)),
  judge: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.attach.judge(input.clusterId)),
  tryJudge: procedureFor("attach")
    .input(tryJudgeSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.attach.tryJudge(input.judge, signal ?? never(), ctx.caller.name)),
  measureJudge: procedureFor("operate")
    .input(byCluster)
    .mutation(({ ctx, input }) => ctx.services.attach.measureJudge(input.clusterId)),
  enterJudgeTime: procedureFor("operate")
    .input(enterJudgeTimeSchema)
    .mutation(({ ctx, input }) => ctx.services.attach.enterJudgeTime(input.clusterId, input.secondsPerCall, ctx.caller.name)),
  engineLog: procedureFor("operate")
    .input(byEngine)
    .query(({ ctx, input }) => ctx.services.attach.engineLog(input.clusterId, input.engineId)),
});
