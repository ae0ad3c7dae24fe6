import {
  byCluster,
  endControlSchema,
  forecastControlsSchema,
  knobsSchema,
  panicSchema,
  rollBackSchema,
  startCanarySchema,
  startCaptureSchema,
  startMirrorSchema,
  startShadowSchema,
} from "../base/inputs";
import { never, procedure, router } from "./trpc";

export const gatewayRouter = router({
  models: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.gateway.models(input.clusterId)),
  panic: procedure
    .input(panicSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.panic(clusterId, request, ctx.session.name)),
  clearPanic: procedure
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.clearPanic(input.clusterId, input.reason, ctx.session.name)),
  startCanary: procedure
    .input(startCanarySchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.startCanary(clusterId, request, ctx.session.name)),
  stopCanary: procedure
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.stopCanary(input.clusterId, input.reason, ctx.session.name)),
  startShadow: procedure
    .input(startShadowSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.startShadow(clusterId, request, ctx.session.name)),
  endShadow: procedure
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.endShadow(input.clusterId, input.reason, ctx.session.name)),
  startMirror: procedure
    .input(startMirrorSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.startMirror(clusterId, request, ctx.session.name)),
  endMirror: procedure
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.endMirror(input.clusterId, input.reason, ctx.session.name)),
  holdStages: procedure
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.holdStages(input.clusterId, input.reason, ctx.session.name)),
  releaseStages: procedure
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.releaseStages(input.clusterId, input.reason, ctx.session.name)),
  capture: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.gateway.capture(input.clusterId)),
  startCapture: procedure
    .input(startCaptureSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.startCapture(clusterId, request, ctx.session.name)),
  endCapture: procedure
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.endCapture(input.clusterId, input.reason, ctx.session.name)),
  eraseCapture: procedure
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.eraseCapture(input.clusterId, input.reason, ctx.session.name)),
  forecastControls: procedure
    .input(forecastControlsSchema)
    .query(({ ctx, input: { clusterId, ...values }, signal }) =>
      ctx.services.gateway.forecastControls(clusterId, values, signal ?? never()),
    ),
  /** The last change of the controls of the plan in force, with what is measured since. */
  lastChange: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.promises.lastChange(input.clusterId)),
  setControls: procedure
    .input(knobsSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.setControls(clusterId, request, ctx.session.name)),
  rollBack: procedure
    .input(rollBackSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.rollBack(clusterId, request, ctx.session.name)),
});
