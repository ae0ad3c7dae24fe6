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
import { never, procedureFor, router } from "./trpc";

export const gatewayRouter = router({
  models: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.gateway.models(input.clusterId)),
  panic: procedureFor("operate")
    .input(panicSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.panic(clusterId, request, ctx.caller.name)),
  clearPanic: procedureFor("operate")
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.clearPanic(input.clusterId, input.reason, ctx.caller.name)),
  startCanary: procedureFor("operate")
    .input(startCanarySchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.startCanary(clusterId, request, ctx.caller.name)),
  stopCanary: procedureFor("operate")
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.stopCanary(input.clusterId, input.reason, ctx.caller.name)),
  startShadow: procedureFor("operate")
    .input(startShadowSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.startShadow(clusterId, request, ctx.caller.name)),
  endShadow: procedureFor("operate")
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.endShadow(input.clusterId, input.reason, ctx.caller.name)),
  startMirror: procedureFor("operate")
    .input(startMirrorSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.startMirror(clusterId, request, ctx.caller.name)),
  endMirror: procedureFor("operate")
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.endMirror(input.clusterId, input.reason, ctx.caller.name)),
  holdStages: procedureFor("operate")
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.holdStages(input.clusterId, input.reason, ctx.caller.name)),
  releaseStages: procedureFor("operate")
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.releaseStages(input.clusterId, input.reason, ctx.caller.name)),
  capture: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.gateway.capture(input.clusterId)),
  startCapture: procedureFor("capture")
    .input(startCaptureSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.startCapture(clusterId, request, ctx.caller.name)),
  endCapture: procedureFor("capture")
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.endCapture(input.clusterId, input.reason, ctx.caller.name)),
  eraseCapture: procedureFor("capture")
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.eraseCapture(input.clusterId, input.reason, ctx.caller.name)),
  forecastControls: procedureFor("read")
    .input(forecastControlsSchema)
    .query(({ ctx, input: { clusterId, ...values }, signal }) =>
      ctx.services.gateway.forecastControls(clusterId, values, signal ?? never()),
    ),
  /** The last change of the controls of the plan in force, with what is measured since. */
  lastChange: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.promises.lastChange(input.clusterId)),
  setControls: procedureFor("operate")
    .input(knobsSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.setControls(clusterId, request, ctx.caller.name)),
  rollBack: procedureFor("operate")
    .input(rollBackSchema)
    .mutation(({ ctx, input: { clusterId, ...request } }) => ctx.services.gateway.rollBack(clusterId, request, ctx.caller.name)),
});
