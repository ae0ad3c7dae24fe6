import { z } from "zod";
import {
  keepEnsembleSchema,
  keepSampleSchema,
  placeRequestSchema,
  replayRequestSchema,
  sessionsOfEngineSchema,
} from "@/server/contracts/studio/ensembles";
import { tauSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { never, procedureFor, router } from "./trpc";

const name = z.string().min(1).max(63);
const reason = z.string().max(300).default("");
const atGateway = z.object({ clusterId: z.string().min(1), name, reason });
export const ensemblesRouter = router({
  list: procedureFor("read").query(({ ctx }) => ctx.services.ensembles.list()),
  keep: procedureFor("prepare")
    .input(keepEnsembleSchema)
    .mutation(({ ctx, input }) => ctx.services.ensembles.keep(input, ctx.caller.name)),
  remove: procedureFor("prepare")
    .input(z.object({ name }))
    .mutation(({ ctx, input }) => ctx.services.ensembles.remove(input.name, ctx.caller.name)),
  samples: procedureFor("read").query(({ ctx }) => ctx.services.ensembles.samples()),
  survey: procedureFor("read")
    .input(z.object({ uploadId: z.uuid() }))
    .query(({ ctx, input }) => ctx.services.ensembles.survey(input.uploadId)),
  keepSample: procedureFor("prepare")
    .input(keepSampleSchema)
    .mutation(({ ctx, input }) => ctx.services.ensembles.keepSample(input, ctx.caller.name)),
  removeSample: procedureFor("prepare")
    .input(z.object({ id: z.string().min(1) }))
    .mutation(({ ctx, input }) => ctx.services.ensembles.removeSample(input.id, ctx.caller.name)),
  replay: procedureFor("read")
    .input(replayRequestSchema)
    .query(({ ctx, input, signal }) => ctx.services.ensembles.replay(input, signal ?? never())),
  // A mutation: ensembles with skills are too long for the URL of a query.
  place: procedureFor("prepare")
    .input(placeRequestSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.ensembles.place(input, signal ?? never())),
  sessions: procedureFor("read").query(({ ctx }) => ctx.services.ensembles.sessions()),
  keepSessions: procedureFor("prepare")
    .input(z.object({ uploadId: z.uuid() }))
    .mutation(({ ctx, input }) => ctx.services.ensembles.keepSessions(input.uploadId, ctx.caller.name)),
  removeSessions: procedureFor("prepare")
    .input(sessionsOfEngineSchema)
    .mutation(({ ctx, input }) => ctx.services.ensembles.removeSessions(input, ctx.caller.name)),
  served: procedureFor("read")
    .input(z.object({ clusterId: z.string().min(1) }))
    .query(({ ctx, input }) => ctx.services.ensembles.served(input.clusterId)),
  serve: procedureFor("operate")
    .input(atGateway)
    .mutation(({ ctx, input }) => ctx.services.ensembles.serve(input, ctx.caller.name)),
  withdraw: procedureFor("operate")
    .input(atGateway)
    .mutation(({ ctx, input }) => ctx.services.ensembles.withdraw(input, ctx.caller.name)),
  setTau: procedureFor("operate")
    .input(atGateway.extend({ tau: tauSchema }))
    .mutation(({ ctx, input }) => ctx.services.ensembles.setTau(input, ctx.caller.name)),
});
