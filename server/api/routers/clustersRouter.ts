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
import { never, procedure, router } from "./trpc";

export const clustersRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.clusters.list()),
  gpus: procedure.query(({ ctx }) => ctx.services.clusters.gpus()),
  describe: procedure.input(clusterDescriptionSchema).mutation(({ ctx, input }) => ctx.services.clusters.describe(input, ctx.session.name)),
  secretsFolder: procedure.query(({ ctx }) => ctx.services.attach.secretsFolder()),
  // A mutation: it asks addresses of the caller's choice, with stored keys.
  tryEndpoints: procedure
    .input(tryEndpointsSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.attach.tryEndpoints(input, signal ?? never(), ctx.session.name)),
  allowKey: procedure.input(secretUseSchema).mutation(({ ctx, input }) => ctx.services.attach.allowKey(input, ctx.session.name)),
  tryConnection: procedure
    .input(connectionTextSchema)
    .mutation(({ ctx, input }) => ctx.services.attach.tryConnection(input.text, ctx.session.name)),
  attach: procedure.input(attachSchema).mutation(({ ctx, input }) => ctx.services.attach.attach(input, ctx.session.name)),
  change: procedure
    .input(changeConnectionSchema)
    .mutation(({ ctx, input }) => ctx.services.attach.change(input.clusterId, input.connection, ctx.session.name)),
  testConnection: procedure.input(byCluster).mutation(({ ctx, input }) => ctx.services.attach.testConnection(input.clusterId)),
  detail: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.attach.detail(input.clusterId)),
  detach: procedure
    .input(detachSchema)
    .mutation(({ ctx, input }) => ctx.services.attach.detach(input.clusterId, input.name, ctx.session.name)),
  judge: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.attach.judge(input.clusterId)),
  tryJudge: procedure
    .input(tryJudgeSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.attach.tryJudge(input.judge, signal ?? never(), ctx.session.name)),
  measureJudge: procedure.input(byCluster).mutation(({ ctx, input }) => ctx.services.attach.measureJudge(input.clusterId)),
  enterJudgeTime: procedure
    .input(enterJudgeTimeSchema)
    .mutation(({ ctx, input }) => ctx.services.attach.enterJudgeTime(input.clusterId, input.secondsPerCall, ctx.session.name)),
  engineLog: procedure.input(byEngine).query(({ ctx, input }) => ctx.services.attach.engineLog(input.clusterId, input.engineId)),
});
